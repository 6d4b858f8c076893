"use client";

import { OTPInput } from "input-otp";
import { useRef, type ReactNode } from "react";
import { useStyleNonce } from "./style-nonce";
import { cn } from "./cn";
import { useFieldProps } from "./field";

const DIGITS = 6;

interface OtpInputProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Called with all six digits. By default the form that the field stands in is sent. */
  readonly onComplete?: (code: string) => void;
  readonly disabled?: boolean;
  readonly autoFocus?: boolean;
  /** Accessible name where no `Field` gives one. */
  readonly label?: string;
}

/** As Enter does: not while the button of the form may not be pressed. */
const sendByButton = (form: HTMLFormElement | null): void => {
  const button = [...(form?.elements ?? [])].find(
    (element) => element instanceof HTMLButtonElement && element.type === "submit",
  );
  if (button instanceof HTMLButtonElement && !button.disabled) form?.requestSubmit(button);
};

/** Six digits; takes pasted codes and the phone's own suggestion, and goes on by itself with the last digit. */
export const OtpInput = ({
  value,
  onChange,
  onComplete,
  disabled = false,
  autoFocus = false,
  label,
}: OtpInputProps): ReactNode => {
  const field = useFieldProps({});
  const nonce = useStyleNonce();
  const input = useRef<HTMLInputElement>(null);
  const sendForm = (): void => {
    // The form's own state takes the last digit first.
    requestAnimationFrame(() => sendByButton(input.current?.form ?? null));
  };
  return (
    <OTPInput
      ref={input}
      {...field}
      {...nonce}
      maxLength={DIGITS}
      value={value}
      onChange={onChange}
      onComplete={onComplete ?? sendForm}
      disabled={disabled}
      autoFocus={autoFocus}
      inputMode="numeric"
      pattern="^[0-9]+$"
      autoComplete="one-time-code"
      pasteTransformer={(pasted) => pasted.replace(/\D/g, "")}
      aria-label={label}
      containerClassName={cn("flex items-center gap-1.5", disabled && "opacity-60")}
      render={({ slots }) =>
        slots.map((slot, index) => (
          <span
            key={index}
            className={cn(
              "num flex h-11 w-9 items-center justify-center rounded-control border border-control bg-surface font-mono text-xl",
              slot.isActive && "outline-2 outline-offset-1 outline-accent",
              index === DIGITS / 2 && "ml-2",
            )}
          >
            {slot.char}
          </span>
        ))
      }
    />
  );
};
