window.BENCHMARK_DATA = {
  "lastUpdate": 1700000200000,
  "repoUrl": "https://github.com/example/sorts",
  "entries": {
    "Benchmark": [
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "1111111111111111111111111111111111111111",
          "message": "sort",
          "timestamp": "2023-11-14T22:13:20Z",
          "tree_id": "ffffffffffffffffffffffffffffffffffffffff",
          "url": "https://github.com/example/sorts/commit/1111111111111111111111111111111111111111"
        },
        "date": 1700000000000,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkSort",
            "value": 41653,
            "unit": "ns/op\t      16 B/op\t       1 allocs/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkSort - ns/op",
            "value": 41653,
            "unit": "ns/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkSort - B/op",
            "value": 16,
            "unit": "B/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkSort - allocs/op",
            "value": 1,
            "unit": "allocs/op",
            "extra": "30000 times\n8 procs"
          },
          {
            "name": "BenchmarkCopy",
            "value": 12.5,
            "unit": "ns/op",
            "extra": "1 times"
          },
          {
            "name": "BenchmarkCopy",
            "value": 12.7,
            "unit": "ns/op",
            "extra": "1 times"
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "2222222222222222222222222222222222222222",
          "message": "sort faster",
          "timestamp": "2023-11-14T22:15:20Z",
          "tree_id": "ffffffffffffffffffffffffffffffffffffffff",
          "url": "https://github.com/example/sorts/commit/2222222222222222222222222222222222222222"
        },
        "date": 1700000100000,
        "tool": "pytest",
        "benches": [
          {
            "name": "test_b.py::test_sort",
            "value": 25.5,
            "unit": "iter/sec",
            "range": "stddev: 0.001",
            "extra": "mean: 39.2 msec\nrounds: 26"
          },
          {
            "name": "test_b.py::test_fails",
            "value": null,
            "unit": "iter/sec",
            "range": "stddev: 0",
            "extra": ""
          }
        ]
      },
      {
        "commit": {
          "author": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "committer": {
            "email": "a@example.org",
            "name": "A",
            "username": "a"
          },
          "distinct": true,
          "id": "3333333333333333333333333333333333333333",
          "message": "size",
          "timestamp": "2023-11-14T22:16:40Z",
          "tree_id": "ffffffffffffffffffffffffffffffffffffffff",
          "url": "https://github.com/example/sorts/commit/3333333333333333333333333333333333333333"
        },
        "date": 1700000200000,
        "tool": "customBiggerIsBetter",
        "benches": [
          {
            "name": "rows",
            "value": 120000,
            "unit": "ops/s"
          },
          {
            "name": "happiness",
            "value": 7,
            "unit": "points"
          }
        ]
      }
    ]
  }
}