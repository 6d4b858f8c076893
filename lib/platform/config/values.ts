/** Parts of environment variables. This file loads no library of the chains. */

export type Variables = Readonly<Record<string, string | undefined>>;

/** Prefix of development secrets; production refuses them. */
export const DEVELOPMENT_SECRET_PREFIX = "dev_";

export const withoutPrefix = (value: string): string =>
  value.startsWith(DEVELOPMENT_SECRET_PREFIX)
    ? value.slice(DEVELOPMENT_SECRET_PREFIX.length)
    : value;

/** The comma-separated parts, without empty ones. */
export const listOf = (value: string | undefined): string[] =>
  (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
