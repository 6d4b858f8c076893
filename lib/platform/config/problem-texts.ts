/** Sentences about environment variables that are missing or cannot be used. */
import type { z } from "zod";

const RANDOM = "make one with `openssl rand -hex 32`";

/** For each variable without a default, the part of a sentence that says how to set it. */
const HOW_TO_SET: Readonly<Record<string, string>> = {
  DATABASE_URL:
    "set it to the URL of the database, such as postgresql://user:password@host:5432/causeway",
  CHAINS_FILE:
    "set it to the file that describes your chains; lib/platform/config/chains/public.example.json is an example",
  APP_SECRET: RANDOM,
  APP_SECRET_PREVIOUS: RANDOM,
  KEY_ENCRYPTION_KEY: RANDOM,
  KEY_ENCRYPTION_KEY_PREVIOUS: RANDOM,
  WEBHOOK_SECRET: RANDOM,
  RELAY_WEBHOOK_SECRET: RANDOM,
  ACROSS_WEBHOOK_SECRET: RANDOM,
  METRICS_TOKEN: RANDOM,
  EXECUTOR_PRIVATE_KEY:
    'make one with `echo "0x$(openssl rand -hex 32)"`, and send coins for network fees to its address on each chain',
  EXECUTOR_PRIVATE_KEYS: 'make each with `echo "0x$(openssl rand -hex 32)"`',
  SMTP_URL:
    "set it to your mail server, which sends the one-time codes, such as smtps://user:password@mail.example.org",
  PUBLIC_URL:
    "set it to the address of the service in browsers, which sign-in messages name, such as https://pay.example.org",
};

/** The part of a sentence that says how the variable is set. */
export const howToSet = (name: string): string =>
  HOW_TO_SET[name] ?? "docs/operations.md describes it";

export const missingText = (name: string): string => `${name} is missing; ${howToSet(name)}`;

const boundText = (issue: {
  readonly origin: string;
  readonly bound: number | bigint;
  readonly side: "least" | "most";
}): string => {
  const amount = `at ${issue.side} ${String(issue.bound)}`;
  return issue.origin === "string" ? `must have ${amount} characters` : `must be ${amount}`;
};

type Issue = z.core.$ZodIssue;

/**
 * Recognises the library's own messages. The messages of the schemas instead complete a sentence:
 * "must be 64 hex digits".
 */
const STANDARD_MESSAGE = /^(Invalid|Too|Unrecognized|Expected) /;

const ruleText = (issue: Issue): string => {
  if (!STANDARD_MESSAGE.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return boundText({ ...issue, bound: issue.minimum, side: "least" });
    case "too_big":
      return boundText({ ...issue, bound: issue.maximum, side: "most" });
    case "invalid_type":
      return issue.expected === "int"
        ? "must be a whole number"
        : `must be a ${issue.expected}`;
    case "invalid_format":
      return issue.format === "url" ? "must be a URL" : `must be a valid ${issue.format}`;
    case "custom":
    case "invalid_element":
    case "invalid_key":
    case "invalid_union":
    case "not_multiple_of":
    case "unrecognized_keys":
      return "cannot be used";
  }
};

/**
 * A sentence about a variable or a field that breaks a rule of its schema. The sentence does not
 * contain the value.
 */
export const issueText = (subject: string, issue: Issue): string =>
  `${subject} ${ruleText(issue)}`;
