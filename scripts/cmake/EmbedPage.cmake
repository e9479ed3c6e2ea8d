# cmake -DOUTPUT=FILE.cpp -DWEB=FOLDER "-DSCRIPTS=a.js;b.js" [-DECHARTS=FOLDER] -P EmbedPage.cmake
# Writes the report page's parts into a source file. ECHARTS: the folder of the charting library; without it, the page
# cannot be rendered.

# Scripts are allowed by their SHA-256 in base64 (Content Security Policy Level 3, "hash-source").
function(hash_source text result)
  string(SHA256 digits "${text}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(APPEND digits 00)  # 32 bytes and one to pad: 22 groups of three digits, which are two characters each
  set(base64 "")
  foreach(begin RANGE 0 63 3)
    string(SUBSTRING ${digits} ${begin} 3 group)
    math(EXPR high "0x${group} >> 6")
    math(EXPR low "0x${group} & 63")
    string(SUBSTRING ${alphabet} ${high} 1 first)
    string(SUBSTRING ${alphabet} ${low} 1 second)
    string(APPEND base64 ${first}${second})
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${result} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

file(READ ${WEB}/page.html html)
file(READ ${WEB}/page.css style)
set(scripts "'use strict';\n")
foreach(file IN LISTS SCRIPTS)
  file(READ ${file} text)
  string(APPEND scripts "${text}")
endforeach()
hash_source("${scripts}" hashes)

set(echarts "")
set(notice "")
set(licence "")
if(ECHARTS)
  file(READ ${ECHARTS}/echarts.common.min.js echarts)
  file(READ ${ECHARTS}/NOTICE notice)
  file(READ ${ECHARTS}/LICENSE licence)
  file(READ ${ECHARTS}/LICENSE-d3 part_licence)
  string(APPEND licence "\n${part_licence}")
  hash_source("${echarts}" hash)
  string(APPEND hashes " ${hash}")
endif()

file(WRITE ${OUTPUT} "#include \"assets.hpp\"

namespace paretopipe::page {

const Assets& assets() {
  static const Assets parts{
      .html = R\"part(${html})part\",
      .style = R\"part(${style})part\",
      .scripts = R\"part(${scripts})part\",
      .echarts = R\"part(${echarts})part\",
      .notice = R\"part(${notice})part\",
      .licence = R\"part(${licence})part\",
      .script_hashes = R\"part(${hashes})part\"};
  return parts;
}

}  // namespace paretopipe::page
")
