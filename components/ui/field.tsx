"use client";

import { CircleAlert } from "lucide-react";
import { createContext, useContext, useId, type ComponentProps, type ReactNode } from "react";
import { cn } from "./cn";

interface FieldState {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly invalid: boolean;
}

const FieldContext = createContext<FieldState | null>(null);

/**
 * The attributes of a control inside a `Field`: its id, its description, and whether it is invalid.
 */
export const useFieldProps = (control: {
  id?: string | undefined;
}): { id?: string; "aria-describedby"?: string; "aria-invalid"?: true } => {
  const field = useContext(FieldContext);
  const id = control.id ?? field?.id;
  // Attributes without a value are left out, so that they do not override properties of the
  // control.
  return {
    ...(id === undefined ? {} : { id }),
    ...(field?.describedBy === undefined ? {} : { "aria-describedby": field.describedBy }),
    ...(field?.invalid === true ? { "aria-invalid": true } : {}),
  };
};

interface BareFieldProps {
  /** The hint of the control has the id `${id}-hint`, its `FieldError` has `${id}-error`. */
  readonly id: string;
  /** Shown to screen readers only. */
  readonly label: ReactNode;
  readonly hinted?: boolean;
  readonly error: ReactNode;
  /** One control of this folder. It gets its id and description through context. */
  readonly children: ReactNode;
}

const isProblem = (error: ReactNode): boolean =>
  error !== undefined && error !== null && error !== "" && error !== false;

/** A control without a layout, for rows whose hints and errors stand elsewhere in the row. */
export const BareField = ({
  id,
  label,
  hinted = false,
  error,
  children,
}: BareFieldProps): ReactNode => {
  const invalid = isProblem(error);
  const describedBy = [hinted ? `${id}-hint` : "", invalid ? `${id}-error` : ""]
    .filter(Boolean)
    .join(" ");
  return (
    <FieldContext.Provider
      value={{ id, describedBy: describedBy === "" ? undefined : describedBy, invalid }}
    >
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      {children}
    </FieldContext.Provider>
  );
};

/** The error of the control with this id. Renders nothing when there is no error. */
export const FieldError = ({
  id,
  children,
}: {
  readonly id: string;
  readonly children: ReactNode;
}): ReactNode =>
  isProblem(children) ? (
    <p id={`${id}-error`} role="alert" className="flex items-start gap-1.5 text-sm text-danger">
      <CircleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      <span>{children}</span>
    </p>
  ) : null;

export interface FieldProps {
  readonly label: ReactNode;
  /** Shows the label to screen readers only. */
  readonly labelHidden?: boolean;
  readonly aside?: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: ReactNode;
  readonly className?: string;
  /** One control of this folder. It gets its id and description through context. */
  readonly children: ReactNode;
}

export const Field = ({
  label,
  labelHidden = false,
  aside,
  hint,
  error,
  className,
  children,
}: FieldProps): ReactNode => {
  const id = useId();
  const invalid = isProblem(error);
  const hasHint = hint !== undefined && hint !== null;
  const describedBy = [hasHint ? `${id}-hint` : "", invalid ? `${id}-error` : ""]
    .filter(Boolean)
    .join(" ");
  return (
    <FieldContext.Provider
      value={{ id, describedBy: describedBy === "" ? undefined : describedBy, invalid }}
    >
      <div className={cn("flex min-w-0 flex-col gap-1", className)}>
        <div
          className={cn(
            "flex items-baseline justify-between gap-2",
            labelHidden && aside === undefined && "sr-only",
          )}
        >
          <label
            htmlFor={id}
            className={cn("text-sm font-medium text-fg-2", labelHidden && "sr-only")}
          >
            {label}
          </label>
          {aside}
        </div>
        {children}
        {hasHint ? (
          <p id={`${id}-hint`} className="text-sm text-fg-3">
            {hint}
          </p>
        ) : null}
        <FieldError id={id}>{error}</FieldError>
      </div>
    </FieldContext.Provider>
  );
};

export const CONTROL_LOOKS =
  "h-9 w-full min-w-0 rounded-control border border-control bg-surface px-2.5 text-base text-fg placeholder:text-fg-3 aria-invalid:border-danger disabled:cursor-not-allowed disabled:opacity-60 touch-target";

interface InputProps extends ComponentProps<"input"> {
  /** Right-aligned, tabular, with the keyboard for decimals. */
  readonly numeric?: boolean;
  readonly mono?: boolean;
}

export const Input = ({
  numeric = false,
  mono = false,
  className,
  ...props
}: InputProps): ReactNode => {
  const field = useFieldProps({ id: props.id });
  return (
    <input
      autoComplete="off"
      spellCheck={false}
      inputMode={numeric ? "decimal" : undefined}
      {...props}
      {...field}
      className={cn(CONTROL_LOOKS, numeric && "num text-right", mono && "font-mono", className)}
    />
  );
};

interface CheckboxProps extends Omit<ComponentProps<"input">, "type"> {
  readonly label: ReactNode;
}

export const Checkbox = ({ label, className, ...props }: CheckboxProps): ReactNode => (
  <label className={cn("flex min-h-6 items-center gap-2 touch-target", className)}>
    <input type="checkbox" {...props} className="size-4 shrink-0 accent-accent" />
    <span>{label}</span>
  </label>
);

interface DayInputProps {
  /** `2026-11-21`; null for no day. */
  readonly value: string | null;
  readonly min?: string | null;
  readonly max?: string | null;
  readonly onChange: (day: string | null) => void;
}

export const DayInput = ({ value, min, max, onChange }: DayInputProps): ReactNode => (
  <Input
    type="date"
    value={value ?? ""}
    min={min ?? undefined}
    max={max ?? undefined}
    onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
  />
);
