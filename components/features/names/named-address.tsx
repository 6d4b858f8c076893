"use client";

import type { ReactNode } from "react";
import { Address, type AddressProps } from "@/components/ui/address";
import { useNames } from "./use-names";

/** An address with its mark and the name that the project gave it. */
export const NamedAddress = (props: Omit<AddressProps, "name">): ReactNode => {
  const name = useNames().ofAddress(props.value);
  return <Address {...props} {...(name === undefined ? {} : { name })} />;
};
