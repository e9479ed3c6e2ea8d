# Finds Apache ECharts, which draws the charts of `paretopipe report`. scripts/setup fetches the pinned version where npm
# is; without it everything builds, and `report` says what is missing.
#   PARETOPIPE_ECHARTS        its folder, empty where there is none
#   PARETOPIPE_ECHARTS_FILES  the files in it, each of which is what scripts/echarts.sha256 says
set(PARETOPIPE_ECHARTS_FOLDER ${PROJECT_SOURCE_DIR}/third_party/echarts CACHE PATH
    "Folder of Apache ECharts: echarts.common.min.js and its licences, as scripts/fetch-echarts leaves them")
mark_as_advanced(PARETOPIPE_ECHARTS_FOLDER)
set(PARETOPIPE_ECHARTS_SUMS ${PROJECT_SOURCE_DIR}/scripts/echarts.sha256)
# Looked at again when the library comes, goes or changes.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PARETOPIPE_ECHARTS_SUMS})
file(GLOB ignored CONFIGURE_DEPENDS ${PARETOPIPE_ECHARTS_FOLDER}/*)

set(PARETOPIPE_ECHARTS ${PARETOPIPE_ECHARTS_FOLDER})
set(PARETOPIPE_ECHARTS_FILES "")
file(STRINGS ${PARETOPIPE_ECHARTS_SUMS} sums)
foreach(line IN LISTS sums)
  string(REGEX MATCH "^([0-9a-f]+)  (.+)$" ignored "${line}")
  set(expected ${CMAKE_MATCH_1})
  set(file ${PARETOPIPE_ECHARTS_FOLDER}/${CMAKE_MATCH_2})
  list(APPEND PARETOPIPE_ECHARTS_FILES ${file})
  set(found "")
  if(EXISTS ${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(SHA256 ${file} found)
  endif()
  if(NOT found STREQUAL expected)
    set(PARETOPIPE_ECHARTS "")
  endif()
endforeach()

if(PARETOPIPE_ECHARTS)
  install(FILES ${PARETOPIPE_ECHARTS}/LICENSE ${PARETOPIPE_ECHARTS}/LICENSE-d3 ${PARETOPIPE_ECHARTS}/NOTICE
          DESTINATION ${CMAKE_INSTALL_DATADIR}/paretopipe/licences/echarts)
else()
  set(PARETOPIPE_ECHARTS_FILES "")
  message(STATUS "Apache ECharts is not in ${PARETOPIPE_ECHARTS_FOLDER} in the pinned version: `paretopipe report` will "
                 "not be able to write pages. scripts/fetch-echarts fetches it with npm.")
endif()
