# cmake -DOUT=x.c -DSTYLE=.. -DSCRIPT=.. -DLIBRARY=.. -DLICENCE=.. -P embed.cmake
# Writes the files as C arrays (cli/report/assets.h).  A library that is not there is an array of no bytes.
set(text "/* Made by cli/report/embed.cmake. */\n#include \"report/assets.h\"\n")
foreach(part STYLE SCRIPT LIBRARY LICENCE)
  string(TOLOWER ${part} name)
  set(hex "")
  if(EXISTS "${${part}}")
    file(READ "${${part}}" hex HEX)
  endif()
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND text "const unsigned char asset_${name}[] = {${bytes}0};\n"
                     "const size_t asset_${name}_size = ${size};\n")
endforeach()
file(WRITE "${OUT}" "${text}")
