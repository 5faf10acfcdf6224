int a;	
int c;
