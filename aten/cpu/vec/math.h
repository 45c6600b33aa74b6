// The functions of Vec that are computed here; see Note [Own functions].
#pragma once

#include <aten/cpu/vec/math_complex.h>
#include <aten/cpu/vec/math_erf.h>
#include <aten/cpu/vec/math_exp.h>
#include <aten/cpu/vec/math_gamma.h>
#include <aten/cpu/vec/math_log.h>
#include <aten/cpu/vec/math_pow.h>
#include <aten/cpu/vec/math_root.h>
#include <aten/cpu/vec/math_short.h>
#include <aten/cpu/vec/math_special.h>
#include <aten/cpu/vec/math_trigonometry.h>
