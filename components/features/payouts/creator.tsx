"use client";

import type { ReactNode } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { PublicId } from "@/components/ui/address";

/** The creator: the signed-in person by name, others by id. */
export const Creator = ({ id }: { readonly id: string }): ReactNode => {
  const me = useMe().data;
  return (
    <span className="inline-flex items-center gap-2">
      {me?.id === id ? "You" : null} <PublicId value={id} />
    </span>
  );
};
