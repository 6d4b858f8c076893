/** Longer than any content type that a client sends for JSON; longer values are refused. */
const LENGTH_MAX = 128;
const UTF8_PARAMETERS = new Set(["", "charset=utf-8", 'charset="utf-8"']);

/** Whether the header names JSON, in UTF-8 where it names a charset. Linear in the header's length, and bounded. */
export const isJsonContentType = (header: string): boolean => {
  if (header === "application/json") return true;
  if (header.length > LENGTH_MAX) return false;
  const [type = "", parameter = "", ...rest] = header.toLowerCase().split(";");
  if (type.trim() !== "application/json" || !UTF8_PARAMETERS.has(parameter.trim())) return false;
  return rest.length === 0 || (rest.length === 1 && rest[0]?.trim() === "" && parameter.trim() !== "");
};
