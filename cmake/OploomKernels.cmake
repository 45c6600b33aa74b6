# How code that works with oploom's kernels is compiled: shared by the tree and by packages of operators
# outside of it, which find this file beside oploom-config.cmake.

# oploom_code_options(<target>): the language, hidden symbols, functions that nobody outside replaces (so
# that exported ones can be inlined, too), and arithmetic that gives the same result with every
# instruction set.
function(oploom_code_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    -fno-semantic-interposition -fno-math-errno -fno-trapping-math -ffp-contract=off)
endfunction()

# oploom_kernel_copies(<variable> <folder> <isa> <root> <file>...): writes a source to <folder> for each
# kernel file, to be compiled for one instruction set. <root> is the folder on the include path that the
# files are in.
function(oploom_kernel_copies variable folder isa root)
  set(copies "")
  foreach(source IN LISTS ARGN)
    get_filename_component(stem ${source} NAME_WE)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH relative ${root} ${path})
    set(copy ${folder}/${stem}.${isa}.cpp)
    file(CONFIGURE OUTPUT ${copy} CONTENT "#include <${relative}>\n" @ONLY)
    list(APPEND copies ${copy})
  endforeach()
  set(${variable} ${copies} PARENT_SCOPE)
endfunction()

# oploom_kernel_options(<target> <isa> <file>...): compiles for one instruction set. The files are those of
# the target's that hold generated kernels, if there are any.
function(oploom_kernel_options target isa)
  set(DEFAULT_FLAGS "")
  set(AVX2_FLAGS $<$<CONFIG:Release>:-O3> -mavx2 -mfma -mf16c)
  set(AVX512_FLAGS $<$<CONFIG:Release>:-O3> -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mf16c)
  # Vectors as arguments of inlined functions need no stable calling convention. Loops over strided
  # rows gain nothing from a second copy for stride 1: kernels test for it themselves.
  target_compile_options(${target} PRIVATE ${${isa}_FLAGS} -Wno-psabi
    $<$<CXX_COMPILER_ID:GNU>:-fno-version-loops-for-strides>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The vectors of a long function that a loop takes are computed side by side, and not one after the
    # other, which is more than a processor looks ahead. With AVX512 those of expressions by the second
    # algorithm: the first one leaves them in order where registers might run short. With AVX2 there are
    # registers enough for expressions only, and not for products.
    set(side_by_side -fschedule-insns -fsched-pressure)
    if(isa STREQUAL "AVX512")
      target_compile_options(${target} PRIVATE ${side_by_side})
      # GCC's own header of intrinsics (PR105593).
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-uninitialized)
      set(side_by_side --param=sched-pressure-algorithm=2)
    endif()
    if(NOT isa STREQUAL "DEFAULT" AND ARGN)
      set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${side_by_side})
    endif()
  endif()
  target_compile_definitions(${target} PRIVATE CPU_CAPABILITY=${isa} CPU_CAPABILITY_${isa})
endfunction()

# oploom_cuda_options(<target>): compiles kernels for NVIDIA GPUs, whose results are those of the CPU.
function(oploom_cuda_options target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    CUDA_EXTENSIONS OFF
    CUDA_RUNTIME_LIBRARY Shared
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # As on the CPU, products and sums are rounded one by one; CUDA's own functions are not concerned.
  # CMake 3.25 does not know which standards nvcc 13 has, and nvcc not the attribute tls_model of
  # variables that only the CPU has.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -fmad=false -diag-suppress=1835>)
  # A third of the size; since CUDA 12.8.
  include(CheckCompilerFlag)
  check_compiler_flag(CUDA --compress-mode=size OPLOOM_NVCC_COMPRESSES)
  if(OPLOOM_NVCC_COMPRESSES)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
  endif()
  # What it registers when it is loaded is in tables that stay.
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,-z,nodelete)
endfunction()
