// must: conversion from|no viable conversion
// 18 B/param times tokens is not bytes.
#include "trainplan/base/quantity.hpp"

using namespace trainplan;

Bytes<> state = BytesPerParam<>{18.0} * Tokens<>{4.0};
