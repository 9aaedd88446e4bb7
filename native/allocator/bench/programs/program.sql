-- Joins, groups and an index in memory; ROWS is replaced by a number.
create table t (id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < ROWS)
insert into t select i, hex(i * 7919 % 104729), i * 0.5 from n;
create index by_name on t (name);
select count(*), sum(length(a.name)) from t a join t b on a.name = b.name and a.id < b.id;
select sum(length(g)) from (select group_concat(name) g from t group by id % 5000);
update t set name = name || 'x' where id % 3 = 0;
select count(distinct substr(name, 1, 4)) from t;
