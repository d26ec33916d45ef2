--- Every line is an expression over the columns of rows.py; {a|b} stands for two lines.

-- literals
{1|-1|0|127|2147483647|2147483648|-2147483648|9223372036854775807|9223372036854775808}
{1.5|0.10|.5|100.|1e3|-1.5e-3|12345678901234567890.12345}
{1L|1S|1Y|1D|1F|1.5BD|1E2D}
{'text'|''|'it''s'|"double"|'tab\tback\\slash'|r'raw\n'}
{TRUE|FALSE|NULL|DATE '2024-02-29'|TIMESTAMP '2024-02-29 12:30:00.5'|X'1F'}
{DATE '2024-02-30'|TIMESTAMP '2024-13-01 00:00:00'}

-- arithmetic
{y|i|n|f|x|p|w} {+|-|*} {1|m|z|q}
{big + 1|big * 2|-big|abs(big)|CAST(big AS INT)|y + y|h * h|-y|i + i|j * j|y + 1Y|i * 2147483647}
{y|i|n|f|x|p|q|w} / {j|z|q|3|2.5}
{i / 3|i / 0|x / 0|p / 0|i % 0|x % 0.0|10 / 4|1 / 3|-7 / 2|p / 3|p / q|q / p|w / 3|w / q|w / w|p / 7L|1.0 / 3|2 / 3.0|1.00 / 0.03|p / z|p / f|w * w|w * p|w + p|w - q|p * p|p * q|p + q|p - q|p * 2|p + 1|p * 1.5|n * 1.5|i + 0.1|n + 1.50}
{NULLIF(p, 0) / NULLIF(q, 0)|m / NULLIF(n, 0)|w / NULLIF(w, 0)|p * q / 3|w - p * q|w / 0.0000001|CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)) / 7|q / NULLIF(w, 0)|p / NULLIF(i, 0)|q / NULLIF(p, 0)}
{i|y|x|p|w} % {-3|m|q|2.5}
{mod(i, 3)|mod(-7, 3)|pmod(i, 3)|pmod(-7, 3)|pmod(-7, -3)|pmod(x, 2.0)|pmod(p, 3)|i DIV 2|-7 DIV 2|i DIV j|n DIV m|p DIV 2|i DIV 0|big DIV -1|n DIV NULLIF(i, 0)}
{-i|-x|-p|+i|-(-i)|- 5|-f}
{i & 6|i {pipe} 8|i ^ 3|~i|n & m|y & 3|shiftleft(i, 2)|shiftright(i, 1)|shiftrightunsigned(i, 1)|i << 2|i >> 1|n << 3|shiftleft(n, 40)|bit_count(i)|bit_count(n)|getbit(n, 1)|shiftleft(1, 33)}
{i + NULL|NULL + 1|NULL / 2|NULL = NULL|i = NULL}
{'1' + 1|num + 1|num * 2.5|s + 1|'5' * '2'|x + '1.5'}
{try_add(big, 1)|try_subtract(big, 1)|try_multiply(big, 2)|try_divide(i, 0)|try_divide(i, j)|try_divide(p, 0)|try_divide(n, m)|try_divide(1.0, 0)|try_multiply(99999999.99, 99999999.99)}

-- comparison
{i|x|f|p} {=|<|<=>} {m|z|q|1.5}
{x = 0|x = -0.0|wild = wild|wild > 1|wild <=> NULL|wild < 0|wild = 0.0|f = 0.1|f > 16777216|f = x|wild > CAST('Infinity' AS DOUBLE)|wild = CAST('NaN' AS DOUBLE)}
{s = 'hello World'|s < 'b'|s <> u|s >= u|s = ''|s <=> u|s == u|s != u|NOT s = u|s <> NULL}
{d = e|d < e|d = DATE '2024-02-29'|d = '2024-02-29'|d >= '1999-01-01'|ts < te|ts = '2023-12-31'|ts >= '2023-12-31 00:00:00'|d = ts|d < ts|ts > DATE '2000-01-01'|ts <=> te}
{b = TRUE|b|NOT b|b AND NULL|b OR NULL|b AND FALSE|b OR TRUE|b = b|b <=> NULL|b IS TRUE|b IS NOT TRUE|b IS FALSE|b IS NOT FALSE|b IS NULL|i IS NOT NULL|b < TRUE}
{i = '1'|s = 1|b = 1|d = 1|a = a|a = array(1, 2, 3)|st = st|bin = bin|bin < X'61'|mp = mp|a < a|st.x = 1}
i BETWEEN {0 AND 10|-100 AND m|NULL AND 5|0 AND 1.5}
i NOT BETWEEN {0 AND 10|NULL AND 0}
{d BETWEEN '1999-01-01' AND '2024-01-01'|d BETWEEN e AND DATE '2024-12-31'|s BETWEEN 'a' AND 'i'|x BETWEEN 0 AND 2.5|ts BETWEEN d AND te}
{i IN (1, 5, 100)|i IN (1, NULL)|i NOT IN (1, 5)|i NOT IN (1, NULL)|s IN ('', 'hello World')|p IN (1.5, 0.05)|p IN (1.500, 2)|n IN (42, 1.5)|d IN (DATE '2024-02-29')|d IN ('2024-02-29')|x IN (1.5, 2)|NULL IN (1)|b IN (TRUE)}

-- conditions
CASE WHEN {i > 0} THEN {1 ELSE 2|'a' ELSE 'b'|i ELSE n|p ELSE 0|x ELSE i|q ELSE p|d ELSE ts|NULL ELSE 1|f ELSE i|y ELSE h|n ELSE q|1 ELSE 2.5|f ELSE x|p ELSE x} END
{CASE i WHEN 1 THEN 'one' WHEN 5 THEN 'five' END|CASE i WHEN NULL THEN 1 ELSE 2 END|CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' ELSE 'z' END|CASE s WHEN '' THEN TRUE ELSE FALSE END|CASE WHEN b THEN NULL END|CASE WHEN i = 0 THEN 0 ELSE 10 / i END|CASE WHEN b THEN 'a' ELSE 1 END|CASE WHEN b THEN d ELSE '2024-01-01' END|CASE WHEN NULL THEN 1 ELSE 2 END}
{if(b, 1, 2)|if(i > 0, i, n)|if(NULL, 1, 2)|if(b, 'x', NULL)|iff(b, 1, 2)|if(b, p, 1)|if(b, 1, 'a')}
{coalesce(i, 0)|coalesce(i, n)|coalesce(i, j, -1)|coalesce(p, 0)|coalesce(p, 1.123)|coalesce(s, u, '?')|coalesce(x, 0)|coalesce(f, 0.5)|coalesce(f, i)|coalesce(NULL, NULL)|coalesce(d, ts)|coalesce(NULL, i)|coalesce(s, 1)|coalesce(w, p)|coalesce(y, h)|coalesce(n, 1.5)}
{nvl(i, 0)|nvl(s, 'none')|ifnull(i, -1)|nvl2(i, 1, 2)|nvl2(i, 'a', s)|nullif(i, 1)|nullif(s, '')|nullif(i, n)|nullif(1, 1)|nullif(p, 0)|nullif(x, 0)|zeroifnull(i)|nullifzero(i)|nanvl(x, 0D)|nanvl(wild, 1D)|isnan(wild)|isnan(f)|isnull(i)|isnotnull(i)|nanvl(f, 1)|isnan(i)}
{greatest(i, j)|greatest(i, j, 3)|least(i, j)|greatest(i, n)|least(x, z, 1)|greatest(s, u)|least(d, e)|greatest(d, ts)|greatest(NULL, i)|least(wild, 0D)|greatest(wild, 0D)|greatest(p, q)|least(p, i)|greatest(1, 2.5)|greatest(i)|greatest(f, x)|least(b, TRUE)|greatest(i, 'a')}
{assert_true(TRUE)|raise_error('no')|typeof(i)|equal_null(i, j)|decode(i, 1, 'one', 5, 'five', 'other')|decode(i, 1, 'one')}

-- casts
CAST({y|i|x|p|b} AS {TINYINT|SMALLINT})
CAST({y|i|n|f|x|p|w|b} AS {INT|BIGINT|FLOAT|DOUBLE|DECIMAL(10, 2)|DECIMAL(38, 10)|STRING|BOOLEAN})
CAST({h|q} AS {SMALLINT|FLOAT|STRING|DECIMAL(5, 1)})
CAST(wild AS {INT|FLOAT|DOUBLE|DECIMAL(10, 2)|STRING|BOOLEAN})
CAST({i|x} AS {DATE|TIMESTAMP|BINARY})
CAST({i|j|x|z|q|p|b} AS {DECIMAL(20, 3)|DECIMAL(20, 0)|DECIMAL|INT|STRING})
TRY_CAST({n|x|wild|p|s|num|big} AS {TINYINT|INT|DECIMAL(4, 1)|DOUBLE|BOOLEAN})
TRY_CAST({s|num} AS {DATE|TIMESTAMP})
TRY_CAST(i AS DATE)
CAST({d|ts} AS {DATE|TIMESTAMP|STRING|INT|TIMESTAMP_NTZ|TIMESTAMP_LTZ})
CAST(num AS {TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL(10, 2)|STRING|BINARY})
CAST({'1e3'|' 7 '|'-0'|'1.'|'.5'|'1.55'|'  12\n'|'1_000'} AS {DOUBLE|DECIMAL(10, 1)})
CAST({'1.5d'|'NaN'|'inf'|'-Infinity'} AS DOUBLE)
CAST('NaN' AS DECIMAL(10, 1))
CAST({'1.5'|'1e3'|' 7 '|'abc'|''|'0x1F'|'99999999999'|'+7'|'  12\n'} AS INT)
CAST({'true'|'T'|'yes'|'0'|'1'|'off'|' False '|'2'|'N'} AS BOOLEAN)
CAST({'2024-02-29'|'2024-2-9'|'2024-02'|'2024'|'2024-02-29 12:00:00'|'2024-02-29T12'|'29.02.2024'|'2023-02-29'|' 2024-02-29 '|'20240229'|'2024/02/29'|'epoch'|'0001-01-01'|'12024-01-01'|''} AS DATE)
CAST({'2024-02-29'|'2024-02-29 12:34'|'2024-02-29 12:34:56'|'2024-02-29T12:34:56.789'|'2024-02-29 12:34:56.123456789'|'2024-02-29 1:2:3'|'2024-02-29 12:34:56Z'|'2024-02-29 12:34:56+02:00'|'2024-02'|'12:30'|'2024-02-30 00:00:00'|'2024-02-29 24:00:00'|' 2024-02-29 12:34:56 '|'2024-02-29 12'} AS TIMESTAMP)
CAST({0.285D|1.005D|2.675D|1e20D|1e-7D|123456789.125D|0.1F|1e16D|1.0E7D|9999999.5D|0.001D|1.23e-4D|100D|1.5E300D|CAST(3.4e38 AS FLOAT)} AS {STRING|FLOAT})
CAST({0.285D|1.005D|2.675D|1e-7D|123456789.125D|0.1F|9999999.5D|1e20D} AS {DECIMAL(12, 2)|INT})
{CAST(s AS STRING)|CAST(s AS BINARY)|CAST(encode(s, 'utf-8') AS STRING)|CAST(i AS BINARY)|CAST(a AS STRING)|CAST(st AS STRING)|CAST(mp AS STRING)|CAST(a AS ARRAY<BIGINT>)|CAST(a AS ARRAY<STRING>)|CAST(NULL AS INT)|CAST(NULL AS STRING)|CAST(s AS VARCHAR(3))|CAST(s AS CHAR(3))|i::BIGINT|x::INT|'5'::INT|CAST(1.999 AS INT)|CAST(-1.999 AS INT)|CAST(2.5 AS DECIMAL(2, 0))|CAST(-2.5 AS DECIMAL(2, 0))|CAST(3.5 AS DECIMAL(2, 0))|CAST(99.95 AS DECIMAL(3, 1))|CAST(b AS STRING)|CAST('abc' AS BINARY)|INT(x)|string(i)|double(i)|bigint(x)|date(ts)|timestamp(d)|boolean(i)|decimal(i)|float(x)|CAST(w AS DECIMAL(20, 5))}

-- text
{upper(s)|lower(s)|ucase(s)|lcase(s)|upper('straße')|lower('ÀÉ')|initcap(s)|initcap('heLLO wORLD-foo bar')|length(s)|char_length(s)|character_length(s)|len(s)|octet_length(s)|bit_length(s)|length(bin)|octet_length(bin)|reverse(s)|upper(NULL)|length('🙂')|upper(i)|length(i)|length(x)|reverse(i)}
substring(s, {1|0|-3|2|100|-100|NULL})
substr(s, -3)
substring(s, {0|2|-2|-100|100|NULL|j}, {3|0|-1|NULL|j})
{substring(s FROM 2)|substring(s FROM 2 FOR 3)|substring('hello', 0, 2)|substring('hello', -2, 1)|substring(bin, 2, 1)|substr(s, 2, 3)|substring(i, 1, 2)|s[0]}
{left(s, 2)|left(s, 0)|left(s, -1)|left(s, 100)|right(s, 2)|right(s, 0)|right(s, -1)|right(s, 100)|left(s, j)|right(s, j)|left(NULL, 2)|left('🙂ä', 1)}
lpad(s, {5|0|-1|15|j}, {'ab'|''|u})
rpad(s, {5|0|15|j}, {'ab'|''})
{lpad(s, 8)|rpad(s, 8)|lpad(i, 6, '0')|lpad('x', 5, NULL)}
{trim(s)|ltrim(s)|rtrim(s)|btrim(s)|trim('\t x \n')|trim(BOTH 'xy' FROM 'xyaxyx')|trim(LEADING 'x' FROM 'xxaxx')|trim(TRAILING 'x' FROM 'xxaxx')|btrim('xxaxx', 'x')|ltrim('x', 'xxaxx')|trim(BOTH FROM s)|trim(u FROM s)|ltrim(s, ' ph')|trim('')}
{instr(s, u)|instr(s, 'l')|instr(s, '')|locate(u, s)|locate('l', s)|locate('l', s, 5)|locate('l', s, 0)|locate('l', s, -1)|locate('', s)|position('o' IN s)|position('l', s)|position('l', s, 4)|charindex('l', s)|instr('ä🙂ß', 'ß')|locate('z', 'abc', 100)|locate('', 'abc', 4)|locate('', 'abc', 5)|locate('', s, 0)|locate('c', 'abc', 3)}
{split(s, ',')|split(s, '')|split('a1b22c', '[0-9]+')|split('a.b', '\\.')|split(s, ',', 2)|split('a,b,,', ',')|split('a,b,,', ',', -1)|split(NULL, ',')|split(s, u)|split_part(s, ',', 2)|split_part(s, ',', -1)|split_part(s, ',', 0)|split_part(s, ',', 9)|split_part(s, '', 1)|split_part('a.b.c', '.', 2)|split_part(s, u, 1)|substring_index(s, ',', 2)|substring_index(s, ',', -1)|substring_index('a.b.c', '.', 0)|substring_index(s, 'zz', 1)|substring_index(s, 'lo', 1)|substring_index('aaaaa', 'aa', 2)|substring_index('a.b.c', '.', -9)|substring_index(s, u, 1)}
{concat(s, u)|concat(s, '-', u)|concat(s)|concat()|concat(s, NULL)|concat('a', i)|concat(i, j)|concat('d', d)|concat('x', x)|concat('p', p)|concat('b', b)|concat('t', ts)|s {pipe}{pipe} u|s {pipe}{pipe} i|'a' {pipe}{pipe} NULL|concat(bin, bin)|concat_ws(',', s, u)|concat_ws(',', s, NULL, u)|concat_ws(',')|concat_ws(NULL, s)|concat_ws('-', c)|concat_ws('-', 'a', i)|concat_ws(u, 'a', 'b')|concat_ws(',', c, s)}
{replace(s, 'l', 'L')|replace(s, 'l')|replace(s, '', 'x')|replace(s, u, '_')|replace(s, NULL, 'x')|translate(s, 'lo', 'LO')|translate(s, 'lo', 'L')|translate('abca', 'aa', 'xy')|translate(s, '', 'x')|translate('ä🙂', '🙂', 'x')|translate('abc', 'b', 'xyz')|overlay(s PLACING 'XX' FROM 2)|overlay(s PLACING 'XX' FROM 2 FOR 1)|overlay('Spark SQL' PLACING '_' FROM 6)|overlay('Spark SQL' PLACING 'ANSI ' FROM 7 FOR 0)|overlay(s, 'XX', 2)|repeat(s, 2)|repeat(s, 0)|repeat(s, -1)|repeat('ab', j)|space(3)|space(-1)|space(j)}
{ascii(s)|ascii('')|ascii('ä')|ascii('🙂')|chr(65)|char(97)|chr(0)|chr(228)|chr(256)|chr(-1)|chr(321)|chr(i)|chr(n)|hex(s)|hex(i)|hex(n)|hex(bin)|hex(255)|hex(-1)|unhex('616263')|unhex('F')|unhex('zz')|unhex(hex(s))|bin(i)|bin(13)|bin(-13)|conv('100', 2, 10)|conv('ff', 16, 10)|base64(bin)|base64(s)|unbase64('YWJj')|base64('')|md5(s)|md5('')|md5(bin)|sha(s)|sha1(s)|sha2(s, 256)|sha2(s, 224)|sha2(s, 0)|sha2(s, 512)|sha2(bin, 256)|crc32(s)|hash(i)|xxhash64(i)|encode(s, 'utf-8')|decode(bin, 'utf-8')|unhex(s)}
{levenshtein(s, u)|levenshtein('kitten', 'sitting')|levenshtein('', 'abc')|levenshtein('äb', 'ab')|levenshtein('kitten', 'sitting', 2)|soundex('Robert')|soundex(s)|soundex('')|jaro_winkler_similarity('a', 'b')}
{startswith(s, 'he')|endswith(s, 'd')|contains(s, 'lo')|startswith(s, u)|endswith(s, u)|contains(s, u)|contains(s, '')|startswith(s, '')|endswith(s, NULL)|startswith(bin, X'61')|contains(s, 1)}
{format_number(x, 2)|format_number(123456.789, 2)|format_number(n, 0)|format_number(x, '#.##')|format_number(-1.5D, 0)|format_number(2.5D, 0)|format_number(p, 1)|format_number(0.005D, 2)|format_string('%d-%s', i, s)|format_string('%s', s)|format_string('%05d', i)|format_string('x')|printf('%d', i)|printf('%.2f', x)|to_char(i, '999')|to_char(12.5, '99.9')|to_char(d, 'yyyy')|to_varchar(12, '99')|to_number('12', '99')|to_binary('abc', 'utf-8')|elt(1, 'a', 'b')|elt(3, 'a', 'b')|elt(pmod(j, 2) + 1, 'a', 'b', 'c')|elt(j % 2 + 2, 'a', 'b', 'c')|find_in_set('b', 'a,b,c')|find_in_set(u, s)|find_in_set('', '')|mask(s)|luhn_check('79927398713')|quote(s)|char(i)|sentences('Hi there.')|is_valid_utf8(s)|collate(s, 'UTF8_BINARY')}
{json_array_length('[1,2]')|get_json_object('{lb}"a": {lb}"b": 1{rb}{rb}', '$.a.b')|get_json_object('{lb}"a": "x"{rb}', '$.a')|get_json_object('{lb}"a": [1, 2]{rb}', '$.a[1]')|get_json_object('{lb}"a": 1.50{rb}', '$.a')|get_json_object('{lb}{rb}', '$.a')|get_json_object('no', '$.a')|get_json_object(s, '$.a')|get_json_object('{lb}"a": null{rb}', '$.a')|to_json(st)|to_json(a)|from_json('{lb}"a":1{rb}', 'a INT')|json_object_keys('{lb}"a":1{rb}')|parse_url('http://a.b/c?d=1', 'HOST')|url_encode(s)|url_decode('a%20b')|try_url_decode('a%')}

-- patterns
s LIKE {'h%'|'%World'|'_ello%'|'%'|''|'%l_o%'|'a,b%c'|'HELLO%'|'%\\%%'|'%\\_%'|u|NULL|'%🙂%'|'___'}
s NOT LIKE {'h%'|NULL}
{s LIKE '%!%%' ESCAPE '!'|s LIKE 'h%' ESCAPE '/'|s ILIKE 'HELLO%'|s ILIKE 'äö%'|s NOT ILIKE 'h%'|'a\\b' LIKE 'a\\\\b'|s LIKE '\\h%'|s LIKE 'x\\'|i LIKE '1%'|s LIKE ANY ('h%', 'a%')|s LIKE ALL ('h%', '%d')|'a\nb' LIKE 'a_b'|'a\nb' LIKE 'a%'}
s REGEXP 'o'
{'a\rb' RLIKE 'a.b'|'a.b' RLIKE 'a\\.b'|'Ä' RLIKE '(?i)ä'|'a\u000Bb' RLIKE 'a\\sb'|'a\u000Bb' RLIKE 'a[\\sx]b'|'a b' RLIKE 'a\\Sb'|'abc\n' RLIKE 'c$'|'äb' RLIKE '\\bb'|'x.y' RLIKE 'x[.]y'|'ä' RLIKE '\\w'}
s RLIKE {'^h'|'o'|'^$'|'[A-Z]'|'l+o'|'(?i)WORLD$'|'\\d'|'\\s'|'^.{lb}4{rb}$'|''|'a{pipe}b'|'[äö]'|'(a)\\1'|'(?=h)h'|'['|u|NULL|'\\bWorld\\b'|'[a-z&&[^h]]'}
{regexp_like(s, 'o')|regexp(s, 'l')|NOT s RLIKE 'o'|regexp_replace(s, 'l+', 'L')|regexp_replace(s, '([a-z])([a-z])', '$2$1')|regexp_replace(s, 'o', '')|regexp_replace(s, '[^a-z]', '_')|regexp_replace('aaa', 'a', 'b', 2)|regexp_replace(s, 'x*', '-')|regexp_replace(s, 'l', '\\$')|regexp_replace(s, u, 'x')|regexp_replace('a.b', '.', 'x')|regexp_replace(s, 'o', '\\\\')|regexp_extract(s, '([a-z]+) ([A-Z])', 1)|regexp_extract(s, '([a-z]+)')|regexp_extract(s, '([a-z]+)', 0)|regexp_extract(s, 'zzz', 0)|regexp_extract(s, '([a-z]+)', 2)|regexp_extract(s, '(x)?y', 1)|regexp_extract(s, '(l)(z)?', 2)|regexp_extract_all('a1b22', '[0-9]+', 0)|regexp_extract_all('a1b22', '([a-z])[0-9]', 1)|regexp_extract_all('a1b22', '([a-z])[0-9]')|regexp_count(s, 'l')|regexp_count('aaa', 'aa')|regexp_substr(s, 'l+')|regexp_substr(s, 'zz')|regexp_instr(s, 'l+')|regexp_instr(s, 'zz')}

-- numbers
round({x|p|i|q|w|f}, {0|1|-1})
bround({x|p}, 1)
{round(x)|round(2.5)|round(3.5)|round(-2.5)|round(2.5D)|round(-0.5D)|round(0.285D, 2)|round(1.005D, 2)|round(2.675D, 2)|round(5, -1)|round(15, -1)|round(-15, -1)|round(i)|round(p)|bround(2.5)|bround(3.5)|bround(-2.5D)|bround(25, -1)|round(wild, 1)|round(1e300D, 2)|round(2147483647, -1)|round(x, NULL)|round(p, j)|round(y, -1)|round(123.456, 5)|round(99.99, 1)|bround(x)|round(1234567.891D, 2)|round(p, -3)|round(45.25, -1)}
{floor|ceil}({x|p|i|w|f|-2.5|-0.5D})
ceiling(x)
{floor(x, 1)|ceil(x, 1)|floor(p, 1)|ceil(p, -1)|floor(12345, -2)|ceil(-12.345, 1)|floor(i, -1)|floor(CAST('NaN' AS DOUBLE))|floor(CAST('Infinity' AS DOUBLE))|ceil(1e20D)|floor(NULL)|ceil(q)|floor(q)}
{abs(i)|abs(x)|abs(p)|abs(f)|abs(-0.0D)|sign(i)|sign(x)|sign(p)|signum(x)|sign(wild)|negative(i)|positive(i)|negative(x)|sign(n)|sign(0)}
{pow(i, 2)|power(x, 2)|pow(2, 10)|pow(0, 0)|pow(-8, 0.333)|pow(z, x)|pow(p, 2)|sqrt(z)|sqrt(i)|sqrt(-1)|sqrt(2)|cbrt(27)|cbrt(x)|cbrt(-8.0D)|exp(z)|exp(1)|exp(0)|exp(1000)|expm1(z)|log1p(z)|log1p(-2)|ln(z)|ln(0)|ln(-1)|log(z)|log(2, 8)|log(z, 10)|log(10, 0)|log(0, 10)|log2(8)|log2(z)|log10(1000)|log10(z)|log10(0)|log2(-1)|e()|pi()|hypot(3, 4)|hypot(x, z)|log(1, 5)|sqrt(wild)|exp(x)|ln(wild)}
{sin(x)|cos(x)|tan(x)|asin(z)|acos(z)|atan(x)|atan2(x, z)|sinh(x)|cosh(x)|tanh(x)|asinh(x)|acosh(z)|atanh(z)|cot(z)|sec(x)|csc(z)|degrees(x)|radians(x)|degrees(pi())|atan2(0, -1)|sin(wild)|acos(2)|asin(2)|atanh(1)|acosh(0.5)|sin(i)|cot(0)|cos(1e300D)|sin(p)|radians(180)|tan(0)|atan2(0.0D, -0.0D)|atanh(wild)|asinh(wild)}
{width_bucket(5.35, 0.024, 10.06, 5)|width_bucket(x, 0, 10, 5)|width_bucket(i, 10, 0, 5)|factorial(5)|factorial(21)|factorial(-1)|factorial(j)|rint(x)|rint(2.5)|rint(-0.5D)|rint(3.5)|bin(n)|hex(17)|conv('10', 10, 2)|positive(p)|try_mod(i, 0)|div(i, 2)|isnan(x)|truncate(2.7)|floor(x / 2)|round(x * 100) / 100|ceil(i / 2)|CAST(round(x) AS INT)|round(p / 3, 2)|round(p * 1.1, 1)|abs(p - q)|greatest(p, 0) * 2|sqrt(abs(i))}

-- dates and times
{year|month|day|dayofmonth|quarter|dayofweek|weekday|dayofyear|weekofyear|last_day|monthname|dayname|hour|minute|second|date|to_date|to_timestamp|to_unix_timestamp|unix_timestamp}({d|ts})
EXTRACT({YEAR|YEAROFWEEK|QUARTER|MONTH|WEEK|DAY|DAYOFWEEK|DOW|DAYOFWEEK_ISO|DOW_ISO|DOY|HOUR|MINUTE|SECOND|DAYS|YEARS|CENTURY|EPOCH} FROM ts)
EXTRACT({YEAR|DOW|DOY|WEEK|HOUR|MONTH} FROM d)
{unix_date(d)|unix_seconds(ts)|unix_millis(ts)|unix_micros(ts)|unix_date(ts)|unix_seconds(d)|date_part('year', ts)|date_part('DOW', ts)|date_part('second', ts)|datepart('month', d)|EXTRACT(HOUR FROM INTERVAL 5 HOUR)|EXTRACT(DAY FROM ts - te)|year('2024-02-29')|month(s)|hour('12:30:45')|day('2024-02-29')}
date_trunc({'year'|'quarter'|'MONTH'|'week'|'day'|'HOUR'|'minute'|'second'|'millisecond'|'microsecond'|'MON'|'yyyy'|'nonsense'|u}, ts)
date_trunc({'year'|'HOUR'}, d)
date_trunc({'Q'|'DD'|'MM'}, ts)
trunc(d, {'Q'|'year'|'quarter'|'MM'|'week'|'month'|'YY'|'day'|'nonsense'|u})
{trunc(ts, 'MM')|trunc('2024-02-29', 'MM')|date_trunc('DAY', '2024-02-29 12:00:00')}
date_format(d, {'yyyy-MM-dd'|'EEEE'|'HH:mm'|'D'})
date_format(ts, {'yyyy-MM-dd'|'yyyy-MM-dd HH:mm:ss'|'dd/MM/yy'|'EEE, d MMM yyyy'|'EEEE'|'MMMM'|'HH:mm'|'hh:mm a'|'yyyyMMdd'|'D'|'SSS'|'HH:mm:ss.SSS'|'y'|'Q'|'u'|'ss.SSSSSS'|'H'|'M'|"yyyy-MM-dd'T'HH"|'h'|'E'|'w'|'yyyy'|'MM'|'kk'|'m:s'|'nonsense'|u|''})
{to_date('2024-02-29')|to_date('29.02.2024', 'dd.MM.yyyy')|to_date('20240229', 'yyyyMMdd')|to_date(s)|to_date('2024-02-30')|to_date('2024-2-9', 'yyyy-M-d')|to_date('bad', 'yyyy-MM-dd')|to_date('2024-02-29 10:00:00', 'yyyy-MM-dd HH:mm:ss')|to_date(ts)|to_date(NULL)|to_date('2024-13-01', 'yyyy-MM-dd')|to_date('2024-02-29x', 'yyyy-MM-dd')|to_date('02/29/24', 'MM/dd/yy')|to_date('Feb 29 2024', 'MMM d yyyy')|try_to_date('bad')}
{to_timestamp('2024-02-29 12:34:56')|to_timestamp('2024-02-29')|to_timestamp('29.02.2024 12:34', 'dd.MM.yyyy HH:mm')|to_timestamp('bad')|to_timestamp('2024-02-29 12:34:56.5', 'yyyy-MM-dd HH:mm:ss.S')|to_timestamp('2024-02-29 12:34:56.123', 'yyyy-MM-dd HH:mm:ss.SSS')|to_timestamp(n)|to_timestamp(d)|to_timestamp(x)|try_to_timestamp('bad')|try_to_timestamp('2024-02-29')|to_timestamp_ntz('2024-02-29 12:34:56')|to_timestamp_ltz('2024-02-29 12:34:56')|to_timestamp('2024-02-29 25:00:00', 'yyyy-MM-dd HH:mm:ss')}
{unix_timestamp('2024-02-29 12:34:56')|unix_timestamp('2024-02-29', 'yyyy-MM-dd')|unix_timestamp('bad')|from_unixtime(0)|from_unixtime(m)|from_unixtime(1700000000)|from_unixtime(1700000000, 'yyyy-MM-dd')|from_unixtime(m, 'HH:mm')|from_unixtime(-1)|timestamp_seconds(m)|timestamp_seconds(1.5)|timestamp_millis(n)|timestamp_micros(n)|date_from_unix_date(i)|date_from_unix_date(0)|unix_date(DATE '1970-01-02')}
{datediff(d, e)|datediff(ts, te)|datediff(d, ts)|date_diff(d, e)|datediff('2024-02-29', '2024-02-01')|datediff(DAY, d, e)|d - e|ts - te|ts - d|d - 1|d + 1|d + i|1 + d|d - i|d + n|d + 1.5|d + '1'|ts + 1|d * 2|d + e}
datediff({MONTH|YEAR|WEEK|HOUR|QUARTER|MINUTE}, d, e)
{date_add(d, 1)|date_add(d, i)|date_add(d, -30)|date_add(ts, 1)|date_add('2024-02-28', 1)|date_sub(d, 1)|date_sub(d, i)|dateadd(d, 2)|date_add(d, y)|date_add(d, NULL)|date_add(d, n)|dateadd(MONTH, 1, d)|dateadd(DAY, 1, ts)|date_add(MONTH, 1, d)|date_add(HOUR, 1, d)|date_add(DAY, 1, d)|date_add(d, '1')|date_add(d, 1.5)}
{add_months(d, 1)|add_months(d, -1)|add_months(d, i)|add_months(d, 12)|add_months(ts, 1)|add_months('2024-01-31', 1)|add_months(DATE '2024-01-31', 1)|add_months(DATE '2024-02-29', 12)|add_months(DATE '2023-02-28', 12)|months_between(d, e)|months_between(ts, te)|months_between(e, d, FALSE)|months_between('2024-03-31', '2024-02-29')|months_between(DATE '2024-03-31', DATE '2024-02-29')|months_between(TIMESTAMP '2024-03-31 10:00:00', DATE '2024-02-28')|months_between(d, d)|months_between(ts, d)}
{last_day(DATE '2024-02-01')|last_day('2023-02-01')|next_day(d, 'MON')|next_day(d, 'Sunday')|next_day(d, 'tu')|next_day(d, 'xx')|next_day(d, u)|next_day(ts, 'FRI')|make_date(2024, 2, 29)|make_date(NULL, 1, 1)|make_timestamp(2024, 2, 29, 12, 30, 45.5)|make_timestamp(2024, 2, 30, 0, 0, 0)|make_timestamp(2024, 1, 1, 0, 0, 60)|make_timestamp(2024, 12, 31, 23, 59, 60)|make_timestamp(2024, 1, 1, 24, 0, 0)|make_timestamp(2024, 1, 1, 0, 0, 59.999999)|make_timestamp_ntz(2024, 2, 29, 12, 30, 45)|try_make_timestamp(2024, 2, 30, 0, 0, 0)|make_interval(1)|make_dt_interval(1)}
timestampadd({MICROSECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR}, {-5|j}, ts)
timestampdiff({MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR}, {ts, te|te, ts})
{timestampadd(DAY, 1, d)|timestampadd(HOUR, 1, d)|timestampadd(MONTH, 1, TIMESTAMP '2024-01-31 10:00:00')|timestampdiff(MONTH, TIMESTAMP '2024-02-29 12:00:00', TIMESTAMP '2024-03-29 11:59:59')|timestampdiff(MONTH, DATE '2024-01-31', DATE '2024-02-29')|timestampdiff(YEAR, DATE '2024-02-29', DATE '2025-02-28')|timestampadd(DAY, n, ts)}
ts - INTERVAL {1 DAY|1 MONTH|2 HOURS|'1-2' YEAR TO MONTH}
d - INTERVAL {1 DAY|1 MONTH|2 HOURS}
{ts|d} + INTERVAL {1 DAY|'1' DAY|2 HOURS|1 MONTH|1 YEAR|90 MINUTES|30 SECONDS|1 WEEK|'1-2' YEAR TO MONTH|'1 02:03:04' DAY TO SECOND|-1 DAY|1 DAY 2 HOURS|1 MONTH 1 DAY|1.5 SECONDS|500 MILLISECONDS|'2:30' HOUR TO MINUTE}
{ts + INTERVAL 1 MONTH + INTERVAL 1 DAY|d + INTERVAL 1 DAY = e|d + INTERVAL '1' MONTH < ts|INTERVAL 1 DAY + ts|INTERVAL 1 MONTH + d|ts + 2 * INTERVAL 1 HOUR|ts + INTERVAL 1 HOUR * 3|ts - te > INTERVAL 1 DAY|ts - te = INTERVAL 0 SECONDS|d - e > INTERVAL 10 DAYS|ts - INTERVAL 1 HOUR < te|ts + (te - ts)|d + INTERVAL i DAY|d + INTERVAL '1' QUARTER|d - INTERVAL 2 YEARS|INTERVAL 1 DAY > INTERVAL 23 HOURS|INTERVAL 1 DAY|INTERVAL 1 MONTH|ts + NULL|ts - INTERVAL 1 DAY / 2|-INTERVAL 1 DAY + ts|ts + INTERVAL 1 DAYS - d}
{date_format(d + INTERVAL 1 DAY, 'yyyy')|year(add_months(d, 1))|unix_timestamp(ts) - unix_timestamp(te)|CAST(ts AS DATE) = d|hour(ts) * 60 + minute(ts)|date_trunc('HOUR', ts) + INTERVAL 1 HOUR|datediff(last_day(d), d)|CAST(CAST(d AS TIMESTAMP) AS DATE)|convert_timezone('UTC', 'America/New_York', ts)|from_utc_timestamp(ts, 'UTC')|to_utc_timestamp(ts, 'UTC')}

-- arrays, maps and structs
{a[0]|a[-1]|array(1, NULL, 3)[1]|array(1, 2, 3)[2]|CASE WHEN size(a) > 0 THEN a[0] END|CASE WHEN size(c) > 1 THEN c[1] END|CASE WHEN size(a) > 0 THEN element_at(a, -1) END|element_at(array(1, 2, 3), 3)|element_at(array('a', 'b'), -2)|get(a, 0)|get(a, 5)|get(a, -1)|element_at(a, 5)|element_at(a, 0)|try_element_at(a, 1)|try_element_at(a, 5)|try_element_at(a, -1)|element_at(mp, 'k')|try_element_at(mp, 'k')|mp['k']|mp['nope']|mp[u]|st.x|st.y|st['x']|array(1, 2, 3)[0]|array(1, 2, 3)[i]}
{array(1, 2)|array(i, j)|array('a', s)|array()|array(1, 2.5)|array(i, n)|array(1, NULL)|array(array(1), array(2, 3))|array(1, 'a')|size(a)|size(mp)|cardinality(a)|array_size(a)|size(NULL)|size(array(1, 2))|array_contains(a, 5)|array_contains(a, NULL)|array_contains(c, 'x')|array_contains(a, 1L)|array_contains(array(1, 2), 2)|array_position(a, 5)|array_position(c, 'x')|array_position(a, 99)}
{sort_array(a)|sort_array(a, FALSE)|sort_array(c)|array_sort(a)|array_sort(c)|array_distinct(a)|array_distinct(c)|array_min(a)|array_max(a)|array_max(c)|array_remove(a, 5)|array_union(a, array(9))|array_intersect(a, array(5, 1))|array_except(a, array(5))|array_repeat('x', 3)|array_repeat(i, 2)|array_compact(a)|array_append(a, 4)|array_prepend(a, 4)|array_insert(a, 1, 9)|arrays_overlap(a, array(5))|arrays_overlap(a, array(NULL, 9))|reverse(a)|flatten(array(a, a))|concat(a, a)|concat(a, array(1))|sequence(1, 5)|sequence(5, 1)|sequence(1, 10, 3)|slice(a, 1, 2)|slice(a, -2, 2)|slice(a, 0, 1)|slice(a, 2, 100)|slice(a, 1, -1)|slice(a, 5, 2)|array_join(c, ',')|array_join(c, ',', '?')|array_join(a, '-')|arrays_zip(a, c)}
{transform(a, v -> v + 1)|filter(a, v -> v > 1)|exists(a, v -> v > 1)|forall(a, v -> v > 1)|aggregate(a, 0, (t, v) -> t + v)|array_sort(a, (l, r) -> 0)}
{map('a', 1)|map('a', 1, 'b', 2)|map()|map(1, 'x')|map_keys(mp)|map_values(mp)|map_contains_key(mp, 'k')|map_from_arrays(array('a'), array(1))|map_entries(mp)|str_to_map('a:1,b:2')|map_filter(mp, (k, v) -> v > 1)|map('a', 1)['a']|size(map('a', 1))|map_from_entries(array(struct('a', 1)))}
{named_struct('a', 1, 'b', 'x')|struct(i, s)|struct(1, 'a')|named_struct('a', i).a|struct(i AS one).one|(i, s)|struct(i, s) = struct(i, s)|st = named_struct('x', 1, 'y', 'one')|named_struct('a', array(1, 2)).a[1]|st IS NULL|a IS NOT NULL|struct(st.x)|coalesce(st.x, 0)|if(st.y = 'one', st.x, -1)|coalesce(a, array())|CASE WHEN b THEN a ELSE array(1) END|if(b, st, NULL)}

-- short for others
{nullifzero|zeroifnull}({i|n|x|p|f|y|s|NULL})
{isnull|isnotnull}({i|s|d|NULL|a})
{bigint|smallint|tinyint}({i|x|p|num|b|y|s})
{try_mod|pmod}({i|y|n|x|p|w}, {3|j|m|q|0|-3|z|2.5})
{pmod(y, y)|pmod(h, h)|pmod(n, n)|pmod(p, p)|pmod(f, f)|pmod(wild, 2)|pmod(10, wild)|pmod(s, 2)|pmod(big, m)|pmod(-7, 3)|pmod(7, -3)|pmod(-7, -3)}
{e()|e() * i|bin(i)|bin(n)|bin(big)|bin(y)|bin(x)|bin(s)|factorial(i)|factorial(j)|factorial(20)|factorial(21)|factorial(-1)|factorial(0)|factorial(NULL)}
{cot|csc|sec}({x|z|i|wild|0|1.5})
{btrim(s)|btrim('  a ')|btrim(s, 'hd')|btrim('xxaxx', 'x')|btrim(u, s)|btrim(NULL)}
octet_length({s|u|'é'|X'1F'|NULL|i})
find_in_set({'ab'|'a,b'|''|s|NULL|'é'}, {'abc,b,ab,c,def'|'ab'|''|',ab,'|s|u|NULL})
{like(s, '%o%')|ilike(s, '%O%')|rlike(s, 'o+')|regexp(s, 'o+')|regexp_substr(s, 'o+')|regexp_substr(s, 'q')|regexp_substr(u, '[a-z]+')|regexp_substr(NULL, 'a')}
{weekday}({d|e|ts|'2024-02-29'|NULL})
make_date({2024|1999|i}, {2|13|j}, {29|31|j})
{make_date(2023, 2, 29)|make_date(9999, 12, 31)|make_date(1, 1, 1)|make_date(NULL, 1, 1)}
{make_timestamp_ntz(2024, 2, 29, 12, 30, 15.5)|make_timestamp_ntz(2024, 13, 29, 12, 30, 15)}
{timestamp_seconds|timestamp_millis|timestamp_micros}({i|n|0|-1|1700000000|NULL|y|x|p|s})
{to_timestamp_ntz|try_to_timestamp|try_to_date}({s|'2024-02-29'|'2024-02-30'|'2024-02-29 12:30:00'|d|ts|NULL|i})
{map_values(map('a', 1, 'b', 2))|map_values(map(i, s))|map_values(mp)|cardinality(array(1, 2))|cardinality(map('a', 1))|cardinality(s)|cardinality(a)}
get({array(1, 2, 3)|array('a', NULL)|a|s}, {0|1|2|3|-1|i|j|NULL|n})

-- functions of functions
transform({a|c|array(i, j)|array(p, 2.5)|CAST(array() AS ARRAY<INT>)}, v -> {v|v IS NULL|named_struct('x', v)})
{transform(a, v -> v + i)|transform(a, (v, k) -> v * k)|transform(a, (v, k) -> k)|transform(c, v -> upper(v) {pipe}{pipe} s)|transform(a, v -> transform(a, w -> w + v))|transform(a, v -> CASE WHEN v > 2 THEN 'big' ELSE u END)|transform(a, v -> v / 0)|transform(a, v -> CAST(v AS STRING))|transform(c, x -> length(x) + x)|transform(i, v -> v)|transform(a, (v, k, m) -> v)|transform(a, i -> i + 1)}
{filter|exists|forall}({a|c|array(1, NULL)|array(i, j)|CAST(NULL AS ARRAY<INT>)|CAST(array() AS ARRAY<INT>)}, v -> {v IS NULL|v IS NOT NULL|v = v|b})
{filter|exists|forall}({a|array(1, 5)|array(NULL, 9)}, v -> {v > 1|v > i|v % 2 = 1|v})
{filter(a, (v, k) -> k > 0)|filter(array(3, 4), (v, k) -> v > k + 3)|exists(a, v -> v > 1) AND b|NOT forall(a, v -> v > 1)|filter(c, v -> v LIKE '%a%')|filter(a, v -> exists(a, w -> w > v))}
{aggregate|reduce}({a|array(i, j)|CAST(array() AS ARRAY<INT>)|CAST(NULL AS ARRAY<INT>)}, {0|i}, (t, v) -> {t + v|coalesce(v, 0) + t|greatest(t, v)})
{aggregate(a, 0, (t, v) -> t + v, t -> t * 10)|aggregate(c, '', (t, v) -> concat(t, v))|aggregate(c, 'x', (t, v) -> concat(t, coalesce(v, '-')), t -> length(t))|aggregate(a, 0L, (t, v) -> t + v)|aggregate(array(2147483647), 1, (t, v) -> t + v)|reduce(a, 1, (t, v) -> v)}
zip_with({a|array(1, 2)|CAST(NULL AS ARRAY<INT>)}, {array(10, 20, 30)|a}, (x, y) -> {x + y|coalesce(x, y)|y})
zip_with(a, c, (x, y) -> concat(coalesce(y, '?'), CAST(coalesce(x, 0) AS STRING)))
map_filter({mp|map('a', 1, 'b', 2)}, (k, v) -> {v > 1|k = 'a'|v IS NULL})
transform_values({mp|map('a', 1, 'b', 2)}, (k, v) -> {v + 1|k|concat(k, s)})

-- arrays as sets
array_distinct({a|c|array(i, j, i)|array(p, p, 2.50)|array(NULL, 1, NULL, 1)|array(d, e, d)|CAST(NULL AS ARRAY<INT>)|array(x, x)})
{array_union|array_intersect|array_except|arrays_overlap}({a|array(5, 5, NULL)|array(1L, 2L)}, {a|array(1, 5, NULL)|array(7)|CAST(array() AS ARRAY<INT>)|CAST(NULL AS ARRAY<INT>)})
{array_union|array_intersect|array_except|arrays_overlap}(c, {c|array('x', 'z')|array('a')|array(1)})
array_repeat({i|s|a|'x'|NULL}, {0|2|-1|j|NULL})
sequence({1|i|5|-2|NULL}, {3|j|-4})
{sequence(1, 10, 3)|sequence(10, 1, -3)|sequence(1, 1, 0)|sequence(1, 2, 0)|sequence(1, 5, -1)|sequence(5, 1, 2)|sequence(1L, 3)|sequence(1, 3, 1L)|sequence(y, 3Y)|sequence(1, NULL)|sequence(d, e)|sequence('a', 'b')|size(sequence(1, 100))}
map_entries({mp|map('a', 1, 'b', NULL)|map(1, s)})

-- more of numbers, texts and types
{asinh|acosh|atanh|expm1|log1p}({x|z|wild|0|0.5|1|1e-9D|-0.5|-1|-2|100|p|i|NULL})
hypot({3|x|wild|0|1e200D}, {4|z|wild|0})
positive({i|x|p|n|f|y|s|NULL|d})
width_bucket({x|i|5|NULL|z}, {0|10|j}, {10|0|z}, {5|0|3|NULL})
{bitmap_bit_position|bitmap_bucket_number}({1|0|32768|32769|-1|n|i|NULL|x|s})
{is_valid_utf8|make_valid_utf8|validate_utf8|try_validate_utf8}({s|u|''|NULL|i|bin})
{decode(i, 1, 'one', 5, 'five')|decode(i, NULL, 'none', 0, 'zero', 'other')|decode(s, u, 1, 2)|decode(i, 1, 2, 3.5)|decode(i, 1, 'a', 2)|decode(s, 'l')|decode(bin, 'UTF-8')|decode(encode(s, 'UTF-8'), 'UTF-8')}
typeof({i|y|n|x|f|p|s|b|d|ts|bin|NULL|1|1.50|'a'|a|st|mp|i + n|p * q})
{decimal|binary}({i|s|'12'|p|x|NULL|num})
{date_part|datepart}({'YEAR'|'month'|'DAY'|'dow'|'doy'|'minute'|'seconds'|'nonsense'|u}, {ts|d})
{getbit|bit_get}({i|n|big|y|h|x}, {0|3|7|31|63|64|-1|j})
url_encode({s|u|'a b&c=d/~*-_.é+%'|''|NULL|i})
{map_from_entries(array(struct(1, 'x'), struct(2, NULL)))|map_from_entries(array(struct(i, s)))|map_from_entries(map_entries(mp))|map_from_entries(array(struct(1, 2), struct(1, 3)))|map_from_entries(a)|map_from_entries(array(struct(1, 2), NULL))}
