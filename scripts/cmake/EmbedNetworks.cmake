# cmake -DOUTPUT=FILE.cpp "-DFILES=a.json;b.json" -P EmbedNetworks.cmake
# Writes the network profiles that ship into a source file, so that an installed program knows them by name.
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"profile(${text})profile\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include <paretopipe/config/shipped_network_files.hpp>

namespace paretopipe::config {

const std::vector<ShippedNetworkFile>& shipped_network_files() {
  static const std::vector<ShippedNetworkFile> files{
${entries}  };
  return files;
}

}  // namespace paretopipe::config
")
