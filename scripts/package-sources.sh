# Sourced by the scripts that make a minimal Debian 12: where this host's package clients find packages.

RELEASE=bookworm

# apt's own view of where Debian's packages come from on this host: "URI SUITE COMPONENT" per line.
debian_sources() {
  # shellcheck disable=SC2016 # $(…) is apt's syntax
  apt-get indextargets --format '$(ORIGIN)|$(SITE)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages' |
    awk -F'|' -v release="$RELEASE" '$1 ~ /^Debian/ && $4 ~ "^" release {print $3, $4, $5}' | sort -u
}

# debian_mirror: where debootstrap finds the release, or a failure that says there is none.
debian_mirror() {
  debian_sources | awk -v release="$RELEASE" '$2 == release {print $1; exit}' | grep . || {
    echo "apt on this host knows no source of Debian $RELEASE; as root: apt-get update" >&2
    return 1
  }
}

proxy_variables() { env | grep -E '^(https?_proxy|HTTPS?_PROXY|NO_PROXY|no_proxy)=' || true; }
