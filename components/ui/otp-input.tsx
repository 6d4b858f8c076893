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
  /** Called with all six digits. Default: submits the surrounding form. */
  readonly onComplete?: (code: string) => void;
  readonly disabled: boolean;
  readonly autoFocus?: boolean;
}

/** Submits the form as Enter does, that is, only with an enabled submit button. */
const sendByButton = (form: HTMLFormElement | null): void => {
  const button = [...(form?.elements ?? [])].find(
    (element) => element instanceof HTMLButtonElement && element.type === "submit",
  );
  if (button instanceof HTMLButtonElement && !button.disabled) form?.requestSubmit(button);
};

/**
 * A field for six digits. It accepts pasted codes and the phone's suggestion, and submits after the
 * last digit.
 */
export const OtpInput = ({
  value,
  onChange,
  onComplete,
  disabled,
  autoFocus = false,
}: OtpInputProps): ReactNode => {
  const field = useFieldProps({});
  const nonce = useStyleNonce();
  const input = useRef<HTMLInputElement>(null);
  const sendForm = (): void => {
    // Waits until the form's state has the last digit.
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
