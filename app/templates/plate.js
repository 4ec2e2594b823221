// Made from the plate's Python: what the page knows of it, and its readings as traced from numpy.
"use strict";

const plate = {{ spec | tojson }};

plate.readings = ({ {{- script.arguments | join(", ") -}} }) => {
{% for name, expression in script.lines %}
  const {{ name }} = {{ expression }};
{% endfor %}
  return {
{% for name, value in script.results.items() %}
    {{ name }}{% if name != value %}: {{ value }}{% endif %},
{% endfor %}
  };
};
