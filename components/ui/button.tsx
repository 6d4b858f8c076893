"use client";

import type { VariantProps } from "class-variance-authority";
import { Check, Copy, LoaderCircle, RotateCw } from "lucide-react";
import { Slot } from "radix-ui";
import { type ComponentProps, type ReactNode, useEffect, useState } from "react";
import { buttonLooks } from "./button-looks";
import { cn } from "./cn";
import { toast } from "./toast";
import { Tooltip } from "./tooltip";
import { useHydrated } from "./use-hydrated";

interface ButtonProps extends ComponentProps<"button">, VariantProps<typeof buttonLooks> {
  /** Shows a spinner and ignores further clicks. The label stays visible. */
  readonly loading?: boolean;
  /** Applies the style to the only child, for instance a link. */
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

interface IconButtonProps extends Omit<ButtonProps, "children" | "asChild"> {
  /** Accessible name and tooltip. */
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
    <Button
      {...props}
      variant={variant}
      size={size}
      aria-label={label}
      className={cn("aspect-square px-0", className)}
    >
      {children}
    </Button>
  </Tooltip>
);

const SHOWN_MS = 1500;

/**
 * Resolves with false when there is no clipboard. Browsers offer it only over HTTPS and on
 * localhost.
 */
const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
};

interface CopyButtonProps {
  readonly value: string;
  /** Accessible name and text of the button, such as `Copy address`. */
  readonly label: string;
  /** Shows the label beside the icon. */
  readonly withText?: boolean;
  readonly onCopied?: () => void;
  readonly className?: string;
}

export const CopyButton = ({
  value,
  label,
  withText = false,
  onCopied,
  className,
}: CopyButtonProps): ReactNode => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const run = async (): Promise<void> => {
    if (await copy(value)) {
      setCopied(true);
      onCopied?.();
    } else {
      toast.error("The browser did not allow copying. Select the text and copy it by hand.");
    }
  };
  const icon = copied ? <Check aria-hidden /> : <Copy aria-hidden />;
  if (withText) {
    return (
      <Button className={className} onClick={() => void run()}>
        {icon}
        {copied ? "Copied" : label}
      </Button>
    );
  }
  return (
    <IconButton
      label={copied ? "Copied" : label}
      className={`relative z-1 h-6 [&_svg]:size-3.5 ${className ?? ""}`}
      onClick={() => void run()}
    >
      {icon}
    </IconButton>
  );
};

interface RefreshButtonProps {
  /**
   * The value `isFetching` of `useQuery`. It may be true before the page is hydrated, because the
   * stream of changes can mark an answer from the server as stale.
   */
  readonly isFetching: boolean;
  readonly onRefresh: () => void;
}

export const RefreshButton = ({ isFetching, onRefresh }: RefreshButtonProps): ReactNode => {
  const isHydrated = useHydrated();
  const isLoading = isHydrated && isFetching;
  return (
    <Button loading={isLoading} onClick={onRefresh}>
      {isLoading ? null : <RotateCw aria-hidden />} Refresh
    </Button>
  );
};
