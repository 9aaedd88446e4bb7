FROM paceline-test-base
RUN apt-get update && apt-get install -y --no-install-recommends curl gcc git libc6-dev make && rm -rf /var/lib/apt/lists/*
