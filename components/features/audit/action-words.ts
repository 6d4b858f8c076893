const ABBREVIATIONS: Readonly<Record<string, string>> = { api: "API", email: "e-mail", privacy: "private" };

/**
 * An action of the audit log in words.
 * @example actionWords("api_key.created") // "API key created"
 */
export const actionWords = (action: string): string => {
  const words = action
    .split(/[._]/)
    .map((word) => ABBREVIATIONS[word] ?? word)
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};
