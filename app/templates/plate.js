// Made from the plate's Python: what the page knows of it, and its readings as traced from numpy.
"use strict";

const plate = {{ spec | tojson }};

plate.readings = (inputs) => {
  const readings = {};
{% for line in script %}
  {{ line }}
{% endfor %}
  return readings;
};
