/**
 * The variables of the database. Migrations read only these, so this file loads no library of the
 * chains.
 */
import { z } from "zod";
import { issueText, missingText } from "./problem-texts";
import { protect } from "./protect";
import type { Variables } from "./values";

const POSTGRES_URL = "must be a URL that begins with postgresql://";
export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: POSTGRES_URL });

export const databaseVariables = {
  DATABASE_URL: postgresUrl,
  /**
   * URL of PostgreSQL without a pooler, for LISTEN and migrations. With `none` the service does not
   * use LISTEN, and its instances poll for changes. Default: `DATABASE_URL`.
   */
  DATABASE_DIRECT_URL: z
    .union([z.literal("none"), postgresUrl], { error: `${POSTGRES_URL}, or none` })
    .optional(),
  /**
   * URL with the owner of the tables, for migrations and commands that need one; the service itself
   * never connects with it. Default: `DATABASE_DIRECT_URL`.
   */
  DATABASE_OWNER_URL: postgresUrl.optional(),
};

const environment = z.object(databaseVariables);

export interface DatabaseConfig {
  readonly databaseUrl: string;
  /**
   * True when `DATABASE_DIRECT_URL` is set: `DATABASE_URL` then counts as a pooler that lends
   * connections for one transaction.
   */
  readonly isDatabasePooled: boolean;
  /** URL of the connection for LISTEN; null when instances poll instead. */
  readonly listenUrl: string | null;
  /** URL for migrations with the owner of the tables; null when `databaseUrl` is used. */
  readonly databaseOwnerUrl: string | null;
}

export const databaseOf = (env: z.output<typeof environment>): DatabaseConfig => {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: direct, DATABASE_OWNER_URL: owner } = env;
  return {
    databaseUrl: url,
    isDatabasePooled: direct !== undefined && direct !== url,
    listenUrl: direct === "none" ? null : (direct ?? url),
    databaseOwnerUrl: owner ?? null,
  };
};

/**
 * Thrown when the configuration cannot be used. The message lists every problem, and never the
 * value of a secret.
 */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${String(problems.length)} problem(s):\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
  }
}

export const variableProblem = (given: Variables, issue: z.core.$ZodIssue): string => {
  const name = String(issue.path[0]);
  return given[name] === undefined ? missingText(name) : issueText(name, issue);
};

/**
 * Removes empty variables, because an empty value is the usual way to unset a variable in a file.
 */
export const withoutEmpty = (variables: Variables): Variables =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));

/**
 * Reads only the URLs of the database, for commands that need nothing else.
 * @throws ConfigError that lists every problem
 */
export const loadDatabaseConfig = (variables: Variables = process.env): DatabaseConfig => {
  const given = withoutEmpty(variables);
  protect(given, []);
  const parsed = environment.safeParse(given);
  if (parsed.success) return databaseOf(parsed.data);
  throw new ConfigError(parsed.error.issues.map((issue) => variableProblem(given, issue)));
};
