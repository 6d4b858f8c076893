/**
 * An SQL statement, or a part of one. Parameters of a part are numbered when it becomes part of a
 * statement.
 */
export class Statement {
  /**
   * @param pieces SQL before, between and after the parameters: one more than there are parameters
   */
  constructor(
    private readonly pieces: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  /** The SQL, with `$1` for the first parameter. */
  get text(): string {
    return this.pieces.reduce((text, piece, index) => `${text}$${String(index)}${piece}`);
  }

  concat(next: Statement): Statement {
    const [first = "", ...rest] = next.pieces;
    return new Statement(
      [...this.pieces.slice(0, -1), `${this.pieces.at(-1) ?? ""}${first}`, ...rest],
      [...this.values, ...next.values],
    );
  }
}

/** SQL without parameters. Never pass text that came from outside of the program. */
export const raw = (text: string): Statement => new Statement([text], []);

const parameter = (value: unknown): Statement => new Statement(["", ""], [value]);

/**
 * Writes an SQL statement. An interpolated value becomes a parameter, so it can hold any text; an
 * interpolated `Statement` becomes a part of this one. PostgreSQL infers the type of a parameter
 * from its position. Where it cannot, and for every bigint, add a cast: `${amountBase}::numeric`.
 * @example db.query(sql`SELECT ${contacts.columns} FROM contact WHERE project_id = ${projectId}`);
 */
export const sql = (strings: TemplateStringsArray, ...parts: readonly unknown[]): Statement =>
  parts.reduce<Statement>(
    (statement, part, index) =>
      statement
        .concat(part instanceof Statement ? part : parameter(part))
        .concat(raw(strings[index + 1] ?? "")),
    raw(strings[0] ?? ""),
  );

/** Joins parts, for example conditions by " AND ". An empty list is empty SQL. */
export const join = (parts: readonly Statement[], separator: string): Statement =>
  parts.reduce(
    (joined, part, index) => (index === 0 ? part : joined.concat(raw(separator)).concat(part)),
    raw(""),
  );
