# The target quorum_portable: portable/libquorum.so and portable/libquorum_nlopt.so in the build
# directory.  Both are found beside each other, wherever they lie.
set(PORTABLE ${PROJECT_BINARY_DIR}/portable)
set(PORTABLE_NLOPT ${PORTABLE}/libquorum_nlopt.so)
find_library(NLOPT_SHARED nlopt REQUIRED)
add_custom_command(OUTPUT ${PORTABLE_NLOPT}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PORTABLE}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${PORTABLE_NLOPT}
  COMMAND cp -L ${NLOPT_SHARED} ${PORTABLE_NLOPT}
  COMMAND chmod 755 ${PORTABLE_NLOPT}
  COMMAND ${PATCHELF} --set-soname libquorum_nlopt.so ${PORTABLE_NLOPT}
  DEPENDS ${NLOPT_SHARED} VERBATIM)
add_custom_target(portable_nlopt DEPENDS ${PORTABLE_NLOPT})

# Archives, by the compiler's own search: libz.a, libsqlite3.a, libgfortran.a, libquadmath.a.
set(PORTABLE_ARCHIVES)
foreach(name z sqlite3 gfortran quadmath)
  if(name STREQUAL "sqlite3" AND NOT SQLITE_FOUND)
    continue()
  endif()
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${name}.a
                  OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${path}")
    list(APPEND PORTABLE_ARCHIVES ${path})
  endif()
endforeach()

add_library(quorum_portable SHARED EXCLUDE_FROM_ALL ${QUORUM_PARTS})
add_dependencies(quorum_portable portable_nlopt)
set_target_properties(quorum_portable PROPERTIES OUTPUT_NAME quorum
                      LIBRARY_OUTPUT_DIRECTORY ${PORTABLE}
                      INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON
                      LINK_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/quorum.map;${PORTABLE_NLOPT}")
target_link_libraries(quorum_portable PRIVATE ${PORTABLE_NLOPT} ${OPENBLAS_STATIC}
                      ${PORTABLE_ARCHIVES} pthread dl m
                      -Wl,--wrap=mmap -Wl,--undefined=__wrap_mmap)
target_link_options(quorum_portable PRIVATE -static-libgcc -s -Wl,--exclude-libs,ALL
                    -Wl,--no-undefined
                    -Wl,--version-script=${PROJECT_SOURCE_DIR}/scripts/quorum.map)
# Where there is no older glibc these lead nowhere, and it is linked with the system's.
set(OLD_GLIBC ${PROJECT_BINARY_DIR}/old-glibc)
target_link_options(quorum_portable PRIVATE --sysroot=${OLD_GLIBC}
                    -L${OLD_GLIBC}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
                    -L${OLD_GLIBC}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
