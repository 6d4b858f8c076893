import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Swap } from "@/components/features/swap/swap";

export const metadata: Metadata = { title: "Swap" };

const Page = (): ReactNode => <Swap />;

export default Page;
