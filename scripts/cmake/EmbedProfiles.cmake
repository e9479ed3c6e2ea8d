# cmake -DOUTPUT=FILE.cpp -DFUNCTION=shipped_network_files "-DFILES=a.json;b.json" -P EmbedProfiles.cmake
# Writes the profiles that ship into a source file, so that an installed program knows them by name.
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"profile(${text})profile\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include <paretopipe/experiment/json_file.hpp>

namespace paretopipe::experiment {

const std::vector<ShippedFile>& ${FUNCTION}() {
  static const std::vector<ShippedFile> files{
${entries}  };
  return files;
}

}  // namespace paretopipe::experiment
")
