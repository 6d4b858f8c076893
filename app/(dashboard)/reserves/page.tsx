import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Reserves } from "@/components/features/reserves/reserves";

export const metadata: Metadata = { title: "Reserves" };

const Page = (): ReactNode => <Reserves />;

export default Page;
