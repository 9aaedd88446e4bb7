FROM paceline-test-base
# A cluster of Debian's own would be made at installation.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-common \
 && sed -i 's/^#*create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
 && apt-get install -y --no-install-recommends postgresql-15 && rm -rf /var/lib/apt/lists/* \
 && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data /var/run/postgresql \
 && mkdir /docker-entrypoint-initdb.d
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
COPY postgres-entrypoint /usr/local/bin/docker-entrypoint.sh
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
