# The checker is itself checked: each mistake planted in tests/arch/broken must be reported.
cmake_minimum_required(VERSION 3.25)
set(here ${CMAKE_CURRENT_LIST_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${here}/broken -P ${here}/layers.cmake
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0)
  message(SEND_ERROR "the broken tree passed")
endif()
foreach(expected IN ITEMS
    "base may not include cost" "the core may not include <fstream>" "only src/io may include <nlohmann/json.hpp>"
    "lies in no layer" "render may not include io" "src/render/across.cpp: is not listed")
  string(FIND "${out}" "${expected}" at)
  if(at EQUAL -1)
    message(SEND_ERROR "not reported: ${expected}\n${out}")
  endif()
endforeach()
