"use client";

import type { VariantProps } from "class-variance-authority";
import { LoaderCircle } from "lucide-react";
import { Slot } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { buttonLooks } from "./button-looks";
import { cn } from "./cn";
import { Tooltip } from "./tooltip";

export interface ButtonProps extends ComponentProps<"button">, VariantProps<typeof buttonLooks> {
  /** Shows that the work runs and refuses further clicks; the label stays. */
  readonly loading?: boolean;
  /** Gives its looks to its only child, for instance a link. */
  readonly asChild?: boolean;
}

export const Button = ({
  variant,
  size,
  loading = false,
  asChild = false,
  className,
  ...props
}: ButtonProps): ReactNode => {
  const classes = cn(buttonLooks({ variant, size }), className);
  if (asChild) return <Slot.Root className={classes} {...props} />;
  return (
    <button
      type="button"
      {...props}
      className={classes}
      disabled={props.disabled === true || loading}
      aria-busy={loading || undefined}
    >
      {loading ? <LoaderCircle className="animate-spin" aria-hidden /> : null}
      {props.children}
    </button>
  );
};

export interface IconButtonProps extends Omit<ButtonProps, "children" | "asChild"> {
  /** Accessible name, and the tooltip. */
  readonly label: string;
  readonly children: ReactNode;
}

export const IconButton = ({
  label,
  variant = "ghost",
  size = "sm",
  className,
  children,
  ...props
}: IconButtonProps): ReactNode => (
  <Tooltip content={label}>
    <Button {...props} variant={variant} size={size} aria-label={label} className={cn("aspect-square px-0", className)}>
      {children}
    </Button>
  </Tooltip>
);
