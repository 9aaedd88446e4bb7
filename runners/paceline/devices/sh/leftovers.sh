# leftovers.sh WORKDIR — names what earlier runs left: `workdir`, `run NAME` and `setting NAME` lines.
#
# devices/leftovers.py cleans up what it names.
cd "$1" 2>/dev/null || exit 0
echo workdir
for name in * .[!.]*; do
  if [ -e "$name" ] || [ -L "$name" ]; then echo "run $name"; fi
done
for file in */settings; do
  if [ -f "$file" ]; then
    while read -r setting; do echo "setting $setting"; done <"$file"
  fi
done
