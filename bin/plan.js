#!/usr/bin/env node
import '../dist/bundle/plan.js';
