"use client";

import type { ComponentProps, ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { CONTROL_LOOKS, useFieldProps } from "@/components/ui/field";

/** A field of values, one a line. */
export const Lines = (props: ComponentProps<"textarea">): ReactNode => {
  const field = useFieldProps({});
  return (
    <textarea
      autoComplete="off"
      spellCheck={false}
      {...props}
      {...field}
      className={cn(CONTROL_LOOKS, "h-auto resize-y py-1.5 font-mono text-sm")}
    />
  );
};
