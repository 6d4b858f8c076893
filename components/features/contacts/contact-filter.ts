import type { Contact } from "./use-contacts";

export interface ContactFilter {
  readonly q: string | null;
  readonly tag: string | null;
}

const holds = (text: string, part: string): boolean => text.toLowerCase().includes(part);

/** The contacts whose name, address or tags have the text, and that have the tag. */
export const filterContacts = (contacts: readonly Contact[], { q, tag }: ContactFilter): readonly Contact[] => {
  const part = (q ?? "").trim().toLowerCase();
  return contacts.filter(
    ({ name, address, tags }) =>
      (part === "" || [name, address, ...tags].some((text) => holds(text, part))) &&
      (tag === null || tags.some((one) => one.toLowerCase() === tag.toLowerCase())),
  );
};

/** Every tag once, in alphabetical order. */
export const tagsOf = (contacts: readonly { readonly tags: readonly string[] }[]): readonly string[] =>
  [...new Set(contacts.flatMap(({ tags }) => tags))].sort((a, b) => a.localeCompare(b));

/** `Supplier, Berlin` as typed → its tags, each once, without the empty ones. */
export const parseTags = (text: string): string[] => {
  const seen = new Set<string>();
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => {
      const key = tag.toLowerCase();
      if (tag === "" || seen.has(key)) return false;
      seen.add(key);
      return true;
    });
};
