"use client";

import { Eye, EyeOff } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { Amount, Usd } from "./amount";
import { Button } from "./button";
import { useHiddenAmounts } from "./hidden-amounts";

/** Fixed-width digits keep amounts aligned. */
const Hidden = ({ unit }: { readonly unit?: string | undefined }): ReactNode => (
  <span className="num" title="Amounts are hidden">
    <span aria-hidden>••••••</span>
    <span className="sr-only">hidden</span>
    {unit === undefined ? null : <span className="ml-1 text-fg-3">{unit}</span>}
  </span>
);

/** A balance. Unlike an amount that is about to move, it is not drawn while amounts are hidden. */
export const HeldAmount = (props: ComponentProps<typeof Amount>): ReactNode => {
  const [hidden] = useHiddenAmounts();
  return hidden ? <Hidden unit={props.unit} /> : <Amount {...props} />;
};

/** The value in US dollars; not drawn while amounts are hidden. */
export const HeldUsd = (props: ComponentProps<typeof Usd>): ReactNode => {
  const [hidden] = useHiddenAmounts();
  return hidden ? <Hidden /> : <Usd {...props} />;
};

export const HideAmountsButton = ({ size = "md" }: { readonly size?: "sm" | "md" }): ReactNode => {
  const [hidden, setHidden] = useHiddenAmounts();
  const Icon = hidden ? EyeOff : Eye;
  return (
    <Button size={size} onClick={() => setHidden(!hidden)}>
      <Icon aria-hidden /> {hidden ? "Show amounts" : "Hide amounts"}
    </Button>
  );
};
