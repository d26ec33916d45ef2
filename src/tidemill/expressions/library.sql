-- What DuckDB has no function for, in its own words. Spark's names, with `spark_` before them.

-- A number with a point as Java writes it.
CREATE MACRO spark_digits(t) AS (
    CASE WHEN contains(t, 'e')
    THEN CASE WHEN contains(split_part(t, 'e', 1), '.') THEN split_part(t, 'e', 1) ELSE split_part(t, 'e', 1) || '.0' END
        || 'E' || CAST(CAST(split_part(t, 'e', 2) AS INT) AS VARCHAR)
    ELSE t END
);
CREATE MACRO spark_exponent(t, e) AS (
    rtrim(left(t, 1) || '.' || substring(t, 2), '0')
        || CASE WHEN length(rtrim(t, '0')) <= 1 THEN '0' ELSE '' END || 'E' || CAST(e AS VARCHAR)
);
CREATE MACRO spark_plain(t, x) AS (
    CASE
        WHEN contains(t, 'e') THEN spark_digits(t)
        WHEN x >= 1e7 THEN spark_exponent(replace(regexp_replace(t, '\.0$', ''), '.', ''), length(split_part(t, '.', 1)) - 1)
        WHEN x < 1e-3 AND x > 0 THEN spark_exponent(ltrim(split_part(t, '.', 2), '0'), length(ltrim(split_part(t, '.', 2), '0')) - length(split_part(t, '.', 2)) - 1)
        ELSE t
    END
);
CREATE MACRO spark_text(x) AS (
    CASE
        WHEN isnan(x) THEN 'NaN'
        WHEN isinf(x) THEN CASE WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END
        WHEN x < 0 THEN '-' || spark_plain(CAST(-x AS VARCHAR), -x)
        ELSE spark_plain(CAST(x AS VARCHAR), x)
    END
);
-- NaN and Infinity are no decimals: NULL.
CREATE MACRO spark_number_text(x) AS (CASE WHEN NOT (isnan(x) OR isinf(x)) THEN CAST(CAST(x AS DOUBLE) AS VARCHAR) END);
CREATE MACRO spark_float(x) AS (
    CASE
        WHEN abs(x) > 3.4028235677973364e38 AND NOT isnan(x) THEN CASE WHEN x > 0 THEN CAST('inf' AS FLOAT) ELSE CAST('-inf' AS FLOAT) END
        ELSE CAST(x AS FLOAT)
    END
);
-- A text that looks like a date, with what may be left out.
CREATE MACRO spark_whole_date(t) AS (
    CASE WHEN regexp_matches(t, '^[0-9]{4,7}$') THEN t || '-01-01' WHEN regexp_matches(t, '^[0-9]{4,7}-[0-9]{1,2}$') THEN t || '-01' ELSE t END
);
CREATE MACRO spark_date_text(t) AS (spark_whole_date(regexp_extract(t, '[0-9]{4,7}(-[0-9]{1,2}(-[0-9]{1,2})?)?')));
CREATE MACRO spark_clock_text(t) AS (
    CASE WHEN t = '' THEN '00:00:00' WHEN NOT contains(t, ':') THEN t || ':00:00' WHEN length(t) - length(replace(t, ':', '')) = 1 THEN t || ':00' ELSE t END
);
CREATE MACRO spark_time_text(t) AS (
    spark_date_text(t) || ' ' || spark_clock_text(regexp_extract(t, '[0-9][ T]([0-9]{1,2}(:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]{1,6})?)?)?)', 1))
);

-- Whole numbers of up to 38 digits, divided; half of the divisor or more counts as one.
CREATE MACRO spark_rounded(quotient, rest, divisor, positive) AS (
    quotient + CASE WHEN abs(rest) >= abs(divisor) - abs(rest) THEN CASE WHEN positive THEN 1 ELSE -1 END ELSE 0 END
);
CREATE MACRO spark_divide(n, d, shift) AS (
    (n // d) * shift + spark_rounded(((n % d) * shift) // d, ((n % d) * shift) % d, d, (n < 0) = (d < 0))
);
CREATE MACRO spark_round(x, digits) AS (
    CASE WHEN isnan(x) OR isinf(x) OR abs(x) >= 1e19 THEN x
    ELSE CAST(round(CAST(CAST(x AS VARCHAR) AS DECIMAL(38, 18)), digits) AS DOUBLE) END
);
CREATE MACRO spark_whole(x) AS (CASE WHEN isnan(x) THEN 0 ELSE CAST(x AS BIGINT) END);
CREATE MACRO spark_rint(x) AS (CASE WHEN isnan(x) OR isinf(x) OR abs(x) >= 9007199254740992 OR x = 0 THEN x WHEN x < 0 THEN -round_even(-x, 0) ELSE round_even(x, 0) END);
CREATE MACRO spark_log1p(x) AS (CASE WHEN x > -1 THEN CASE WHEN abs(x) < 0.5 THEN 2 * atanh(x / (2 + x)) ELSE ln(1 + x) END END);
CREATE MACRO spark_expm1(x) AS (CASE WHEN abs(x) < 1 THEN 2 * sinh(x / 2) * exp(x / 2) ELSE exp(x) - 1 END);
CREATE MACRO spark_longest(most, least) AS (CASE WHEN most = 0 THEN 0.0 ELSE most * sqrt(1 + pow(least / most, 2)) END);
CREATE MACRO spark_hypot(x, y) AS (
    CASE
        WHEN x IS NULL OR y IS NULL THEN NULL
        WHEN isinf(x) OR isinf(y) THEN CAST('inf' AS DOUBLE)
        WHEN isnan(x) OR isnan(y) THEN CAST('nan' AS DOUBLE)
        ELSE spark_longest(greatest(abs(x), abs(y)), least(abs(x), abs(y)))
    END
);
CREATE MACRO spark_bucket(x, low, high, n) AS (
    CASE
        WHEN n IS NULL OR x IS NULL OR n <= 0 OR isnan(x) OR low = high OR isnan(low) OR isnan(high) OR isinf(low) OR isinf(high) OR low IS NULL OR high IS NULL THEN NULL
        WHEN low < high THEN CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1 ELSE CAST(trunc(n * (x - low) / (high - low)) AS BIGINT) + 1 END
        WHEN x > low THEN 0
        WHEN x <= high THEN n + 1
        ELSE CAST(trunc(n * (low - x) / (low - high)) AS BIGINT) + 1
    END
);
CREATE MACRO spark_sign(x) AS (CASE WHEN x = 0 OR isnan(x) THEN x ELSE CAST(sign(x) AS DOUBLE) END);

-- Texts.
CREATE MACRO spark_upper(s) AS (CASE WHEN strlen(s) = length(s) THEN upper(s) ELSE spark_full_upper(s) END);
CREATE MACRO spark_lower(s) AS (CASE WHEN strlen(s) = length(s) THEN lower(s) ELSE spark_full_lower(s) END);
CREATE MACRO spark_cut(s, first, stop) AS (
    CASE WHEN stop <= first OR stop <= 0 THEN substring(s, 1, 0) ELSE substring(s, CASE WHEN first < 0 THEN 0 ELSE first END + 1, stop - CASE WHEN first < 0 THEN 0 ELSE first END) END
);
CREATE MACRO spark_first(s, start) AS (CASE WHEN start > 0 THEN start - 1 WHEN start < 0 THEN length(s) + start WHEN start = 0 THEN 0 END);
CREATE MACRO spark_substring(s, start, n) AS (spark_cut(s, spark_first(s, CAST(start AS BIGINT)), spark_first(s, CAST(start AS BIGINT)) + n));
-- What would take the memory of everyone is an error; as an argument, so that it comes first.
CREATE MACRO spark_times(n, size) AS (CASE WHEN CAST(n AS BIGINT) * size > 16777216 THEN error('the text would have more than 16777216 bytes') ELSE n END);
CREATE MACRO spark_repeat(s, n) AS (repeat(s, spark_times(n, strlen(s))));
CREATE MACRO spark_replace(s, part, other) AS (replace(s, part, CASE WHEN strlen(other) * strlen(s) > 268435456 THEN error('the text might have more than 268435456 bytes') ELSE other END));
CREATE MACRO spark_left(s, n) AS (left(s, CASE WHEN n < 0 THEN 0 ELSE n END));
CREATE MACRO spark_right(s, n) AS (right(s, CASE WHEN n < 0 THEN 0 ELSE n END));
CREATE MACRO spark_pad(s, n, fill, padded) AS (
    CASE WHEN fill IS NULL THEN NULL WHEN fill = '' OR length(s) >= n THEN spark_left(s, n) ELSE padded END
);
CREATE MACRO spark_filling(n, fill) AS (CASE WHEN fill = '' THEN ' ' ELSE fill END);
CREATE MACRO spark_lpad(s, n, fill) AS (spark_pad(s, n, fill, lpad(s, CASE WHEN n < 0 THEN 0 ELSE spark_times(n, 1) END, spark_filling(n, fill))));
CREATE MACRO spark_rpad(s, n, fill) AS (spark_pad(s, n, fill, rpad(s, CASE WHEN n < 0 THEN 0 ELSE spark_times(n, 1) END, spark_filling(n, fill))));
CREATE MACRO spark_locate(part, s, start) AS (
    CASE
        WHEN start < 1 AND s IS NOT NULL AND part IS NOT NULL THEN 0
        WHEN part = '' AND s IS NOT NULL AND start IS NOT NULL THEN 1
        WHEN start > length(s) + 1 THEN 0
        WHEN instr(substring(s, start), part) = 0 THEN 0
        ELSE instr(substring(s, start), part) + start - 1
    END
);
CREATE MACRO spark_url(s) AS (replace(replace(replace(url_encode(s), '%20', '+'), '%2A', '*'), '~', '%7E'));
CREATE MACRO spark_chr(n) AS (CASE WHEN n < 0 THEN '' ELSE chr(CAST(n & 255 AS INT)) END);
CREATE MACRO spark_initcap(s) AS (
    array_to_string(list_transform(string_split(s, ' '), lambda spark_word: spark_upper(left(spark_word, 1)) || spark_lower(substring(spark_word, 2))), ' ')
);
CREATE MACRO spark_reverse(s) AS (array_to_string(list_transform(range(length(s), 0, -1), lambda spark_k: substring(s, spark_k, 1)), ''));
CREATE MACRO spark_overlay(s, part, start, n) AS (spark_substring(s, 1, start - 1) || part || spark_substring(s, start + n, 2147483647));
CREATE MACRO spark_split_part(s, sep, k) AS (
    CASE WHEN k = 0 AND s IS NOT NULL AND sep IS NOT NULL THEN error('the index of split_part starts at 1')
    WHEN sep = '' THEN CASE WHEN k IN (1, -1) THEN s ELSE substring(s, 1, 0) END
    ELSE split_part(s, sep, CAST(k AS BIGINT)) END
);
CREATE MACRO spark_substring_index(s, sep, k) AS (
    CASE WHEN sep = '' OR k = 0 THEN substring(s, 1, 0)
    WHEN k > 0 THEN array_to_string(list_slice(string_split(s, sep), 1, k), sep)
    ELSE array_to_string(list_slice(string_split(s, sep), k, -1), sep) END
);
CREATE MACRO spark_unhex(s) AS (CASE WHEN regexp_matches(s, '^[0-9a-fA-F]*$') THEN unhex(s) END);
CREATE MACRO spark_like(pattern, sign) AS (
    CASE WHEN contains(pattern, sign) AND regexp_matches(replace(replace(replace(pattern, sign || sign, ''), sign || '%', ''), sign || '_', ''), '\\') THEN error('an escape sign stands before no sign that it could escape: ' || pattern) ELSE pattern END
);

-- Dates and times.
CREATE MACRO spark_month_number(d) AS (year(d) * 12 + month(d) - 1);
CREATE MACRO spark_clock(t) AS (t - date_trunc('day', t));
CREATE MACRO spark_until(a, b) AS (
    CAST(b AS DATE) + CASE
        WHEN CAST(b AS DATE) > CAST(a AS DATE) AND spark_clock(b) < spark_clock(a) THEN -1
        WHEN CAST(b AS DATE) < CAST(a AS DATE) AND spark_clock(b) > spark_clock(a) THEN 1
        ELSE 0 END
);
CREATE MACRO spark_packed(d) AS (spark_month_number(d) * 32 + day(d));
CREATE MACRO spark_months_until(a, b) AS ((spark_packed(spark_until(a, b)) - spark_packed(a)) // 32);
CREATE MACRO spark_seconds_of_month(t) AS ((day(t) - 1) * 86400 + (epoch_us(spark_clock(t)) // 1000000));
CREATE MACRO spark_months_apart(a, b) AS (
    CASE
        WHEN day(a) = day(b) OR (CAST(a AS DATE) = last_day(a) AND CAST(b AS DATE) = last_day(b))
        THEN CAST(spark_month_number(a) - spark_month_number(b) AS DOUBLE)
        ELSE (spark_month_number(a) - spark_month_number(b)) + CAST(spark_seconds_of_month(a) - spark_seconds_of_month(b) AS DOUBLE) / 2678400
    END
);
CREATE MACRO spark_seconds(t) AS (
    CAST(CAST(epoch_us(t - date_trunc('minute', t)) AS DECIMAL(10, 0)) * 0.000001 AS DECIMAL(8, 6))
);
CREATE MACRO spark_floored(n, unit) AS (n // unit - CASE WHEN n % unit < 0 THEN 1 ELSE 0 END);
CREATE MACRO spark_next_day(d, day) AS (d + CAST((day - isodow(d) + 6) % 7 + 1 AS INT));
CREATE MACRO spark_make_timestamp(y, mo, d, h, mi, s) AS (
    CASE
        WHEN h < 0 OR h > 23 OR mi < 0 OR mi > 59 OR s < 0 OR s > 60 OR (s > 59.999999 AND s <> 60) THEN error('no such time')
        ELSE make_timestamp(epoch_us(CAST(make_date(y, mo, d) AS TIMESTAMP)) + CAST(h AS BIGINT) * 3600000000 + CAST(mi AS BIGINT) * 60000000 + CAST(s * 1000000 AS BIGINT))
    END
);

-- Arrays and maps.
CREATE MACRO spark_nulls(a) AS (len(a) - list_count(a));
CREATE MACRO spark_holds(a, x) AS (CASE WHEN x IS NULL THEN spark_nulls(a) > 0 ELSE list_contains(a, x) END);
CREATE MACRO spark_distinct(a) AS (list_filter(a, lambda spark_each, spark_place: NOT spark_holds(list_slice(a, 1, spark_place - 1), spark_each)));
CREATE MACRO spark_union(a, b) AS (CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN spark_distinct(list_concat(a, b)) END);
CREATE MACRO spark_common(a, b, wanted) AS (CASE WHEN b IS NOT NULL THEN list_filter(spark_distinct(a), lambda spark_other: spark_holds(b, spark_other) = wanted) END);
CREATE MACRO spark_overlap(a, b) AS (
    CASE
        WHEN a IS NULL OR b IS NULL THEN NULL
        WHEN list_has_any(list_filter(a, lambda spark_each: spark_each IS NOT NULL), list_filter(b, lambda spark_each: spark_each IS NOT NULL)) THEN TRUE
        WHEN len(a) > 0 AND len(b) > 0 AND spark_nulls(a) + spark_nulls(b) > 0 THEN NULL
        ELSE FALSE
    END
);
CREATE MACRO spark_sequence(start, stop, step) AS (
    CASE
        WHEN (step = 0 AND start <> stop) OR (step > 0 AND start > stop) OR (step < 0 AND start < stop) THEN error('the step of sequence leads away from its end')
        WHEN step = 0 THEN [start]
        ELSE generate_series(start, stop, CASE WHEN abs(stop - start) // nullif(abs(step), 0) > 1048576 THEN error('the list would have more than 1048576 elements') ELSE step END)
    END
);
CREATE MACRO spark_contains(a, x) AS (
    CASE WHEN list_contains(a, x) THEN TRUE WHEN x IS NULL OR len(a) > list_count(a) THEN NULL WHEN a IS NOT NULL THEN FALSE END
);
CREATE MACRO spark_position(a, x) AS (
    CASE WHEN a IS NOT NULL AND x IS NOT NULL THEN CAST(coalesce(list_position(a, x), 0) AS BIGINT) END
);
CREATE MACRO spark_remove(a, x) AS (
    CASE WHEN x IS NOT NULL THEN list_filter(a, lambda spark_each: spark_each IS DISTINCT FROM x) END
);
CREATE MACRO spark_element(a, k, otherwise) AS (
    CASE WHEN a IS NULL OR k IS NULL THEN NULL WHEN k = 0 OR abs(k) > len(a) THEN otherwise ELSE a[k] END
);
CREATE MACRO spark_slice(a, k, n) AS (
    CASE
        WHEN k = 0 AND a IS NOT NULL AND n IS NOT NULL THEN error('the start of slice counts from 1')
        WHEN n < 0 AND a IS NOT NULL AND k IS NOT NULL THEN error('the length of slice is negative')
        WHEN n = 0 OR abs(k) > len(a) THEN list_slice(a, 1, 0)
        WHEN k > 0 THEN list_slice(a, k, k + n - 1)
        ELSE list_slice(a, len(a) + k + 1, len(a) + k + n)
    END
);

-- Whether a value is in a list of constants, looked at only where the value is wanted.
CREATE MACRO spark_in(choices, v) AS (
    CASE WHEN v IS NULL THEN NULL ELSE list_position(choices, v) IS NOT NULL END
);
