"use client";

import type { ReactNode } from "react";
import { Checkbox } from "@/components/ui/field";
import type { VoterValues } from "./policy-form";

interface VoterFieldsProps {
  readonly register: (name: keyof VoterValues) => object;
}

export const VoterFields = ({ register }: VoterFieldsProps): ReactNode => (
  <>
    <fieldset className="flex flex-wrap gap-x-6 gap-y-1">
      <legend className="pb-1 text-sm font-medium text-fg-2">Who may approve</legend>
      <Checkbox label="Owners" {...register("owner")} />
      <Checkbox label="Admins" {...register("admin")} />
      <Checkbox label="Operators" {...register("operator")} />
    </fieldset>
    <Checkbox label="Not the person who asked" {...register("excludeMaker")} />
    <Checkbox
      label="API keys that are exempt from codes need no votes within their daily caps"
      {...register("exemptKeys")}
    />
  </>
);
