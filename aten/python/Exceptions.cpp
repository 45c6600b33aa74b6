// Maps the exception classes of c10 to Python's.
#include <aten/python/Exceptions.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <new>
#include <stdexcept>

namespace at::inline oploom_v1::python {

PyObject* OutOfMemoryError = nullptr;

namespace {

// A message may quote a part of a string that is not valid UTF-8 by itself.
void set_message(PyObject* type, const char* message) noexcept {
  PyObject* const text =
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace");
  if (text == nullptr) return;  // an error is set
  PyErr_SetObject(type, text);
  Py_DECREF(text);
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "error without an exception set");
  } catch (const c10::OutOfMemoryError& error) {
    set_message(OutOfMemoryError, error.what());
  } catch (const c10::NotImplementedError& error) {
    set_message(PyExc_NotImplementedError, error.what());
  } catch (const c10::IndexError& error) {
    set_message(PyExc_IndexError, error.what());
  } catch (const c10::ValueError& error) {
    set_message(PyExc_ValueError, error.what());
  } catch (const c10::TypeError& error) {
    set_message(PyExc_TypeError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(OutOfMemoryError, "out of memory");
  } catch (const std::exception& error) {
    // An error raised by a Python hook comes back as it was: the engine passes it through.
    if (!PyErr_Occurred()) set_message(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "unknown C++ exception");
  }
}

void add_exceptions(PyObject* module) {
  OutOfMemoryError = PyErr_NewExceptionWithDoc(
      "oploom.OutOfMemoryError",
      "An allocation failed, or would have passed the limit set by set_memory_limit().",
      PyExc_MemoryError, nullptr);
  if (OutOfMemoryError == nullptr) throw PythonError();
  check_status(PyModule_AddObjectRef(module, "OutOfMemoryError", OutOfMemoryError));
}

}  // namespace at::inline oploom_v1::python
