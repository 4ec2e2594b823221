// Made from the plate's Python: what the page knows of it, and its formulas as traced from numpy.
"use strict";

const plate = {{ spec | tojson }};

{% macro traced(lines) %}
(inputs) => {
  const readings = {};
{% for line in lines %}
  {{ line }}
{% endfor %}
  return readings;
};
{% endmacro %}
plate.readings = {{ traced(drawn) }}
{% for id, (followed, curves) in along.items() %}
plate.followed[{{ id | tojson }}] = {{ traced(followed) }}
plate.curves[{{ id | tojson }}] = {{ traced(curves) }}
{% endfor %}
