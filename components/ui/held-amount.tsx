"use client";

import { Eye, EyeOff } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { Amount, Hidden, Usd } from "./amount";
import { Button } from "./button";
import { useHiddenAmounts } from "./hidden-amounts";

/** A balance. It stays hidden in reviews too, where the amounts that are about to move are shown. */
export const HeldAmount = (props: ComponentProps<typeof Amount>): ReactNode => {
  const [hidden] = useHiddenAmounts();
  return hidden ? <Hidden unit={props.unit} /> : <Amount {...props} />;
};

/** The value of a balance in US dollars; hidden as `HeldAmount` is. */
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
