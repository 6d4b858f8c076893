const ENDINGS = { csv: "csv", camt053: "xml" } as const;

interface NamedExport {
  readonly kind: string;
  readonly format: keyof typeof ENDINGS;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** The name under which the file of an export is saved: `audit-log-2026-11-30.csv`. */
export const exportFileName = ({ kind, format, createdAt }: NamedExport): string =>
  `${kind.replaceAll("_", "-")}-${createdAt.slice(0, 10)}.${ENDINGS[format]}`;
