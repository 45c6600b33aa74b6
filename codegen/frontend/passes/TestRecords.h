// Test records: what the key `test` of an operator may say.
#pragma once

#include <codegen/frontend/Diagnostics.h>
#include <codegen/frontend/Model.h>

namespace oploom::frontend {

// Note [Test records]
// The vocabulary is that of python/oploom/testing, which reads records when the tests run and
// trusts them: a word that it does not know would be left out of account without a sign.
void check_test_record(const Operator& op, Diagnostics& diagnostics);

}  // namespace oploom::frontend
