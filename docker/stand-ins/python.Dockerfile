FROM paceline-test-base
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip python3-venv \
 && rm -rf /var/lib/apt/lists/* /usr/lib/python3.11/EXTERNALLY-MANAGED && ln -s python3 /usr/bin/python
CMD ["python3"]
