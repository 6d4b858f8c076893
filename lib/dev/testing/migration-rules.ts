/**
 * Finds statements in migrations with which the previous version cannot work. During an upgrade two
 * neighbouring versions use one database.
 */

/**
 * The first line of a migration that removes something which the previous version no longer uses.
 */
const CONTRACT = /^-- contract: \S.+/m;

const withoutComments = (sql: string): string =>
  sql.replaceAll(/--.*$/gm, "").replaceAll(/\/\*[\s\S]*?\*\//g, "");

const nameIn = (text: string, pattern: RegExp): string =>
  pattern.exec(text)?.[1]?.replaceAll('"', "").toLowerCase() ?? "";

const CREATED = /CREATE TABLE (?:IF NOT EXISTS )?(["\w.]+)/i;
const ALTERED = /ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(["\w.]+)/i;
const INDEXED = /CREATE UNIQUE INDEX [\s\S]*? ON (?:ONLY )?(["\w.]+)/i;

/** Patterns of statements that are always refused. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [
    /\bDROP\s+(TABLE|COLUMN|TYPE|VIEW|FUNCTION|INDEX|CONSTRAINT|DEFAULT|SCHEMA|ROLE)\b/i,
    "drops something",
  ],
  [/\bRENAME\b/i, "renames something"],
  [/\bALTER\s+(COLUMN\s+)?"?\w+"?\s+(SET\s+DATA\s+)?TYPE\b/i, "changes the type of a column"],
  [/\bREVOKE\b/i, "takes a right away"],
  [/\bTRUNCATE\b/i, "empties a table"],
];

/**
 * Statements that are refused only for tables of the previous version, because that version does
 * not write to new tables.
 */
const REFUSED_IN_OLD_TABLES: readonly (readonly [RegExp, string])[] = [
  [/\bSET\s+NOT\s+NULL\b/i, "forbids empty values"],
  [/\bADD\s+CONSTRAINT\b/i, "adds a constraint"],
  [/\bADD\s+(CHECK|UNIQUE|FOREIGN|PRIMARY|EXCLUDE)\b/i, "adds a constraint"],
  [/\bENABLE\s+ROW\s+LEVEL\s+SECURITY\b/i, "hides rows"],
];

const needsValue = (statement: string): boolean =>
  statement
    .split(/\bADD\s+COLUMN\b/i)
    .slice(1)
    .some(
      (column) => /\bNOT\s+NULL\b/i.test(column) && !/\b(DEFAULT|GENERATED)\b/i.test(column),
    );

const faultsOf = (statement: string, created: ReadonlySet<string>): string[] => {
  const faults = REFUSED.filter(([pattern]) => pattern.test(statement)).map(
    ([, fault]) => fault,
  );
  const unique = nameIn(statement, INDEXED);
  if (unique !== "" && !created.has(unique)) faults.push("adds a unique index");
  const altered = nameIn(statement, ALTERED);
  if (altered === "" || created.has(altered)) return faults;
  if (needsValue(statement)) faults.push("adds a column that needs a value");
  return [
    ...faults,
    ...REFUSED_IN_OLD_TABLES.filter(([pattern]) => pattern.test(statement)).map(
      ([, fault]) => fault,
    ),
  ];
};

/**
 * Names the kinds of changes with which the previous version could not work, each kind once:
 * "drops something", "adds a unique index" … Empty for a migration that only adds. Also empty for
 * a migration whose first line, `-- contract: <reason>`, explains why nobody needs the removed
 * parts.
 */
export const contractionsOf = (sql: string): string[] => {
  if (CONTRACT.test(sql)) return [];
  const statements = withoutComments(sql).split(";");
  const created = new Set(
    statements.map((statement) => nameIn(statement, CREATED)).filter((name) => name !== ""),
  );
  return [...new Set(statements.flatMap((statement) => faultsOf(statement, created)))];
};
