import type { ReactNode } from "react";
import { NothingHere } from "@/components/layout/nothing-here";

const NotFound = (): ReactNode => <NothingHere />;

export default NotFound;
