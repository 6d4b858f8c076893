import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import type { Warning } from "@/lib/contracts/warnings";

interface WarningsProps {
  readonly warnings: readonly Pick<Warning, "code" | "path" | "message">[];
}

export const WarningAlerts = ({ warnings }: WarningsProps): ReactNode =>
  warnings.map(({ code, message }) => (
    <Alert key={code + message} tone="warning">
      {message}
    </Alert>
  ));

/** Whether a recipient looks like an address that the project knows. */
export const isMistakable = (warnings: readonly Pick<Warning, "code">[]): boolean =>
  warnings.some(({ code }) => code === "lookalike_recipient");

interface WarningListProps extends WarningsProps {
  readonly title: string;
  readonly tone?: "warning" | "danger";
  /** Maximum number of warnings that are shown. Default: all. */
  readonly max?: number;
  /** Text before a message, for warnings about rows. */
  readonly place?: (path: string | null) => string;
  readonly children?: ReactNode;
}

/**
 * The warnings about the recipients of a request, under one title. Renders nothing when there are
 * none.
 */
export const WarningList = ({
  warnings,
  title,
  tone = "warning",
  max = warnings.length,
  place = () => "",
  children,
}: WarningListProps): ReactNode =>
  warnings.length === 0 ? null : (
    <Alert tone={tone} title={title}>
      <ul className={warnings.length === 1 ? "" : "list-disc pl-4"}>
        {warnings.slice(0, max).map(({ code, path, message }) => (
          <li key={`${path ?? ""} ${code} ${message}`} className="wrap-anywhere">
            {place(path)}
            {message}
          </li>
        ))}
        {warnings.length > max ? <li>and {warnings.length - max} more</li> : null}
      </ul>
      {children}
    </Alert>
  );
