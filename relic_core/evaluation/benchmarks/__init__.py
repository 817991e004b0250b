"""Benchmarks, one file each behind one port (`relic_core.ports.Benchmark`)."""
