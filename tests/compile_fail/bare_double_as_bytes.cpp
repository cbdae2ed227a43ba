// must: conversion from 'double'|no viable conversion from 'double'|explicit constructor
#include "trainplan/base/quantity.hpp"

using namespace trainplan;

Bytes<> bytes = 5.0;
