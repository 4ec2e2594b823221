// Made from the plate's Python: what the page knows of it, and its readings as traced from numpy.
"use strict";

const plate = {{ spec | tojson }};

plate.readings = (inputs) => {
  const readings = {};
{% for place, expression in script.lines %}
  {{ "" if "." in place else "const " }}{{ place }} = {{ expression }};
{% endfor %}
  return readings;
};
