window.BENCHMARK_DATA = {
  "lastUpdate": 1573200039566,
  "entries": {
    "Rust Benchmark": [
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
          "timestamp": "2019-11-08T16:33:03+09:00",
          "tree_id": "ffffffffffffffffffffffffffffffffffffffff",
          "url": "https://github.com/example/sorts/commit/1111111111111111111111111111111111111111"
        },
        "date": 1573198480535,
        "tool": "cargo",
        "benches": [
          {
            "name": "bench_sort",
            "value": 255,
            "range": 32,
            "unit": "ns/iter"
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
          "timestamp": "2019-11-08T16:58:16+09:00",
          "tree_id": "ffffffffffffffffffffffffffffffffffffffff",
          "url": "https://github.com/example/sorts/commit/2222222222222222222222222222222222222222"
        },
        "date": 1573200039550,
        "tool": "cargo",
        "benches": [
          {
            "name": "bench_sort",
            "value": 212,
            "range": 30,
            "unit": "ns/iter"
          },
          {
            "name": "bench_copy",
            "value": 34058,
            "range": 3820,
            "unit": "ns/iter"
          }
        ]
      }
    ],
    "Go Benchmark": [
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
          "timestamp": "2019-11-08T16:33:03+09:00",
          "tree_id": "ffffffffffffffffffffffffffffffffffffffff",
          "url": "https://github.com/example/sorts/commit/1111111111111111111111111111111111111111"
        },
        "date": 1573198490000,
        "tool": "go",
        "benches": [
          {
            "name": "BenchmarkSort",
            "value": 41653,
            "unit": "ns/op\t      16 B/op\t       1 allocs/op",
            "extra": "30000 times\n8 procs"
          }
        ]
      }
    ]
  }
}