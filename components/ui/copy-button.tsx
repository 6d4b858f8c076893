"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { Button, IconButton } from "./button";

const SHOWN_MS = 1500;

/** Without HTTPS (other than on localhost) browsers give pages no clipboard. */
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
  /** The noun of the copied value in the accessible name: `Copy address`. */
  readonly label: string;
  /** Shows the label beside the icon. */
  readonly withText?: boolean;
  readonly onCopied?: () => void;
  readonly className?: string;
}

export const CopyButton = ({ value, label, withText = false, onCopied, className }: CopyButtonProps): ReactNode => {
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
